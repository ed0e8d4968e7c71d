import { subscribe } from 'node:diagnostics_channel'
import type { LookupAddress, promises } from 'node:dns'
import { isIP, type LookupFunction, type Socket } from 'node:net'
import { buildConnector } from 'undici'
import { isAllowedAddress } from './public-address.ts'

/** The endpoint resolves to an address that is not public; nothing was sent. */
export class BlockedAddressError extends Error {
  override message = 'the endpoint resolves to an address that is not public'
}

/** The endpoint's host name has no address, or the lookup failed. */
export class LookupError extends Error {}

/**
 * SSRF guard: a `lookup` that resolves to allowed addresses only. The connection is pinned to the addresses that were
 * checked, so DNS rebinding has no effect. A single blocked address among several blocks them all.
 */
function guardedLookup(lookup: LookupFunction, allowPrivateNetwork: boolean): LookupFunction {
  return (hostname, options, callback) => {
    // Node asks for all addresses, because it tries one after the other
    lookup(hostname, { ...options, all: true }, (error, answer) => {
      const addresses = Array.isArray(answer) ? answer : []
      const isBlocked = addresses.some(({ address }) => !isAllowedAddress(address, { allowPrivateNetwork }))
      if (error) callback(new LookupError(error.code ?? 'lookup failed', { cause: error }), [])
      else if (addresses.length === 0) callback(new LookupError('ENOTFOUND'), [])
      else if (isBlocked) callback(new BlockedAddressError(), [])
      else callback(null, addresses)
    })
  }
}

/** Servers may send a 100 without being asked. undici skips every other interim response, so a 100 is rewritten as a 102. */
function passingOverContinue(socket: Socket): Socket {
  const read = socket.read.bind(socket)
  return Object.assign(socket, {
    read(size?: number) {
      const chunk: unknown = read(size)
      if (Buffer.isBuffer(chunk) && chunk.toString('latin1', 0, 12) === 'HTTP/1.1 100') chunk.write('102', 9)
      return chunk
    },
  })
}

/**
 * The connector of an undici Agent: TLS 1.2 or newer with verified certificates, and only to public addresses, with
 * `allowPrivateNetwork` also to private ones.
 *
 * @param options `timeoutMs` for the lookup, TCP and TLS together.
 */
export function guardedConnector({
  allowPrivateNetwork,
  lookup,
  timeoutMs,
}: {
  allowPrivateNetwork: boolean
  lookup: LookupFunction
  timeoutMs: number
}): buildConnector.connector {
  const connect = buildConnector({
    lookup: guardedLookup(lookup, allowPrivateNetwork),
    timeout: timeoutMs,
    minVersion: 'TLSv1.2',
    // The default, but NODE_TLS_REJECT_UNAUTHORIZED would change that.
    rejectUnauthorized: true,
    // Node's 250 ms for each address but the last is too short for a TCP handshake across the world.
    autoSelectFamilyAttemptTimeout: 1000,
  })
  return (target, callback) => {
    // Node does not look up a literal address, so the lookup would not see it.
    if (isIP(target.hostname) !== 0 && !isAllowedAddress(target.hostname, { allowPrivateNetwork }))
      return callback(new BlockedAddressError(), null)
    connect(target, (...[error, socket]) =>
      error ? callback(error, null) : callback(null, passingOverContinue(socket)),
    )
  }
}

const sent = new WeakSet<Buffer>()

// undici publishes it just before it writes a request's first byte, also on a reused connection
subscribe('undici:client:sendHeaders', (message) => {
  const { request } = message as { request: { body: unknown } }
  if (Buffer.isBuffer(request.body)) sent.add(request.body)
})

/** Whether a request has begun to go out. undici knows a request by its body, so each one needs its own Buffer. */
export const isSent = (body: Buffer): boolean => sent.has(body)

/**
 * A lookup for connections that asks DNS through `resolver`, without blocking a thread. The system's lookup blocks one,
 * and Node has two for lookups: two partners whose name server does not answer would stop everybody's webhooks.
 */
export function resolverLookup(resolver: Pick<promises.Resolver, 'resolve4' | 'resolve6'>): LookupFunction {
  return (hostname, _options, callback) => {
    const answers = Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)])
    // an error is an empty answer: the guard treats that as a failed lookup
    void answers.then(([v4, v6]) => callback(null, [...found(v4, 4), ...found(v6, 6)]))
  }
}

function found(result: PromiseSettledResult<string[]>, family: 4 | 6): LookupAddress[] {
  return result.status === 'fulfilled' ? result.value.map((address) => ({ address, family })) : []
}
