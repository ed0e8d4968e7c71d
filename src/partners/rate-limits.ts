import rateLimit from '@fastify/rate-limit'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { retryLater } from '../http/errors.ts'
import { MINUTE_MS } from '../values.ts'

type Limit = (request: FastifyRequest) => Promise<void>

declare module 'fastify' {
  /** Each throws the {ApiError} RATE_LIMITED. */
  interface FastifyInstance {
    /** Counts a request without a valid key against its address. */
    limitAddress: Limit
    /** Counts an authenticated request against its partner. */
    limitPartner: Limit
  }
}

/**
 * Limits each partner, and each address without a valid key, to `perMinute` requests; 0 means no limit. Partners behind one
 * address do not share a limit. Counters are per process and kept for the 5,000 most recent partners or addresses.
 */
export async function limitRates(app: FastifyInstance, perMinute: number): Promise<void> {
  await app.register(rateLimit, { global: false })
  const limit = (by: { keyGenerator?: (request: FastifyRequest) => number } = {}): Limit => {
    if (perMinute === 0) return async () => {}
    const count = app.createRateLimit({ max: perMinute, timeWindow: MINUTE_MS, ...by })
    return async (request) => {
      const state = await count(request)
      if (!state.isAllowed && state.isExceeded)
        throw retryLater('RATE_LIMITED', 'Too many requests.', state.ttlInSeconds)
    }
  }
  app.decorate('limitAddress', limit())
  app.decorate('limitPartner', limit({ keyGenerator: ({ partnerId }) => partnerId }))
}
