import type { LookupAddress, promises } from 'node:dns'
import type { LookupFunction } from 'node:net'

/**
 * A lookup for connections that asks DNS through `resolver`. The system's own lookup holds a thread for
 * as long as it waits, and Node gives lookups two: two partners with a dead name server would hold up
 * every other partner's webhooks. This one waits in the event loop.
 */
export function resolverLookup(resolver: Pick<promises.Resolver, 'resolve4' | 'resolve6'>): LookupFunction {
  return (hostname, _options, callback) => {
    void Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]).then(([v4, v6]) => {
      const addresses = [...found(v4, 4), ...found(v6, 6)]
      if (addresses.length > 0) return callback(null, addresses)
      // One of them may only say that there is none of its kind: the other's reason is the true one.
      const reasons = [...failed(v4), ...failed(v6)]
      callback(reasons.find(({ code }) => code !== 'ENODATA') ?? reasons[0] ?? new Error('no address'), [])
    })
  }
}

function found(result: PromiseSettledResult<string[]>, family: 4 | 6): LookupAddress[] {
  return result.status === 'fulfilled' ? result.value.map((address) => ({ address, family })) : []
}

function failed(result: PromiseSettledResult<string[]>): NodeJS.ErrnoException[] {
  return result.status === 'rejected' ? [result.reason as NodeJS.ErrnoException] : []
}
