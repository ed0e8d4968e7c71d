import type { LookupAddress } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { buildConnector } from 'undici'
import { isPublicAddress } from './public-address.ts'

/** An endpoint that leads to an address which is not public; nothing was sent. */
export class BlockedAddressError extends Error {
  readonly address: string

  constructor(address: string) {
    super('the endpoint leads to an address that is not public')
    this.address = address
  }
}

/** An endpoint whose name has no address, or could not be looked up. */
export class LookupError extends Error {}

/**
 * `lookup` for connections to the public internet: the connection is made to one of the addresses
 * returned here and to no other, so DNS rebinding gains nothing. One address among several that is not public
 * refuses them all, and so does a failed lookup.
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
      const blocked = addresses.find(({ address }) => !isPublicAddress(address))
      if (blocked && !allowPrivateNetwork) return refuse(new BlockedAddressError(blocked.address))
      if (options.all) return callback(null, addresses)
      callback(null, first.address, first.family)
    })
  }
}

export interface ConnectorOptions {
  allowPrivateNetwork: boolean
  lookup: LookupFunction
  /** For the lookup, TCP and TLS together. */
  timeoutMs: number
}

/**
 * The connector of an undici Agent through which every connection passes: TLS 1.2 or newer with
 * verified certificates, and only to public addresses unless `allowPrivateNetwork`. An error bears the
 * `address` it happened with, where there was one.
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
    // Said although it is the default: NODE_TLS_REJECT_UNAUTHORIZED must not reach this.
    rejectUnauthorized: true,
    // Node's 250 ms for each address but the last is too short for a TCP handshake across the world.
    autoSelectFamilyAttemptTimeout: 1000,
  })
  return (target, callback) => {
    // Node looks up names only: a literal address would connect straight past the lookup.
    if (isIP(target.hostname) !== 0 && !allowPrivateNetwork && !isPublicAddress(target.hostname)) {
      return callback(new BlockedAddressError(target.hostname), null)
    }
    connect(target, callback)
  }
}
