import rateLimit from '@fastify/rate-limit'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { retryLater } from '../http/errors.ts'
import { MINUTE_MS } from '../values.ts'

type Limit = (request: FastifyRequest) => Promise<void>

declare module 'fastify' {
  /** Each throws the {ApiError} RATE_LIMITED. */
  interface FastifyInstance {
    /** Counts a request that needs no key against its address. */
    limitAddress: Limit
    /** Counts a request without a valid key against its address. */
    limitRefusals: Limit
    /** Refuses a request whose address has used up its refusals. */
    limitLookups: Limit
    /** Counts an authenticated request against its partner. */
    limitPartner: Limit
  }
}

type Count = ReturnType<FastifyInstance['createRateLimit']>

const unlimited: Count = async () => ({ isAllowed: true, key: '' })

/**
 * Limits each partner, each address that sends no key, and each address that sends invalid keys to `perMinute`
 * requests; 0 means no limit. Partners behind one address do not share a limit. Counters are per process and kept
 * for the 5,000 most recent partners or addresses.
 */
export async function limitRates(app: FastifyInstance, perMinute: number): Promise<void> {
  await app.register(rateLimit, { global: false })
  const counter = (max: number, keyGenerator?: (request: FastifyRequest) => string | number): Count => {
    if (max === 0) return unlimited
    return app.createRateLimit({ max, timeWindow: MINUTE_MS, ...(keyGenerator && { keyGenerator }) })
  }
  const refusals = counter(perMinute)
  app.decorate('limitAddress', limit(counter(perMinute)))
  app.decorate('limitRefusals', limit(refusals))
  app.decorate('limitPartner', limit(counter(perMinute, ({ partnerId }) => partnerId)))
  app.decorate('limitLookups', async (request) => {
    const state = await refusals(request, { increment: false })
    if (!state.isAllowed && state.remaining === 0) throw rateLimited(state.ttlInSeconds)
  })
}

const limit =
  (count: Count): Limit =>
  async (request) => {
    const state = await count(request)
    if (!state.isAllowed && state.isExceeded) throw rateLimited(state.ttlInSeconds)
  }

const rateLimited = (seconds: number) => retryLater('RATE_LIMITED', 'Too many requests.', seconds)
