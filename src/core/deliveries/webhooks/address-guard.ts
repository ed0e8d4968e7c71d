import type { LookupAddress } from 'node:dns'
import { isIP, type LookupFunction, type Socket } from 'node:net'
import { buildConnector } from 'undici'
import { BlockedAddressError, LookupError } from './address-errors.ts'
import { isAllowedAddress } from './public-address.ts'

/**
 * SSRF guard: a `lookup` that resolves to allowed addresses only. The connection is pinned to the addresses that were
 * checked, so DNS rebinding has no effect. One other address among several blocks them all.
 */
function guardedLookup(lookup: LookupFunction, allowPrivateNetwork: boolean): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, answer, family) => {
      const refuse = (reason: Error) => callback(reason, [])
      if (error) return refuse(new LookupError(error.code ?? 'lookup failed', { cause: error }))
      const addresses: LookupAddress[] =
        typeof answer === 'string' ? [{ address: answer, family: family ?? isIP(answer) }] : answer
      const first = addresses[0]
      if (first === undefined) return refuse(new LookupError('ENOTFOUND'))
      const blocked = addresses.find(({ address }) => !isAllowedAddress(address, { allowPrivateNetwork }))
      if (blocked) return refuse(new BlockedAddressError(blocked.address))
      if (options.all) return callback(null, addresses)
      callback(null, first.address, first.family)
    })
  }
}

/** Servers may send a 100 that nobody asked for. undici passes over every interim response but that: it reads a 102 here. */
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

interface ConnectorOptions {
  allowPrivateNetwork: boolean
  lookup: LookupFunction
  /** For the lookup, TCP and TLS together. */
  timeoutMs: number
}

/**
 * The connector of an undici Agent: TLS 1.2 or newer with verified certificates, and only to public addresses, with
 * `allowPrivateNetwork` also to private ones. An error has the `address` it happened with, if there was one.
 */
export function guardedConnector({
  allowPrivateNetwork,
  lookup,
  timeoutMs,
}: ConnectorOptions): buildConnector.connector {
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
    if (isIP(target.hostname) !== 0 && !isAllowedAddress(target.hostname, { allowPrivateNetwork })) {
      return callback(new BlockedAddressError(target.hostname), null)
    }
    connect(target, (...[error, socket]) =>
      error ? callback(error, null) : callback(null, passingOverContinue(socket)),
    )
  }
}
