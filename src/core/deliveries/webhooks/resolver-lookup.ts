import type { LookupAddress, promises } from 'node:dns'
import type { LookupFunction } from 'node:net'

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
