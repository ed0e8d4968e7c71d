import type { LookupAddress, promises } from 'node:dns'
import type { LookupFunction } from 'node:net'

/**
 * A lookup for connections that asks DNS through `resolver`. The system's own lookup holds a thread for
 * as long as it waits, and Node gives lookups two: two partners with a dead name server would hold up
 * every other partner's webhooks. This one waits in the event loop.
 */
export function resolverLookup(resolver: Pick<promises.Resolver, 'resolve4' | 'resolve6'>): LookupFunction {
  return (hostname, _options, callback) => {
    const answers = Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)])
    // Whatever the reason, no address is no address: the guard takes none for a failed lookup.
    void answers.then(([v4, v6]) => callback(null, [...found(v4, 4), ...found(v6, 6)]))
  }
}

function found(result: PromiseSettledResult<string[]>, family: 4 | 6): LookupAddress[] {
  return result.status === 'fulfilled' ? result.value.map((address) => ({ address, family })) : []
}
