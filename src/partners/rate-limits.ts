import rateLimit from '@fastify/rate-limit'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import plugin from 'fastify-plugin'
import { MINUTE_MS } from '../values.ts'
import { retryLater } from '../http/errors.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Counts a request that needs no key against its address. @throws {ApiError} RATE_LIMITED */
    limitAddress(request: FastifyRequest): Promise<void>
    /** Counts a request without a valid key against its address. @throws {ApiError} RATE_LIMITED */
    limitRefusals(request: FastifyRequest): Promise<void>
    /** Refuses a request whose address has used up its refusals. @throws {ApiError} RATE_LIMITED */
    limitLookups(request: FastifyRequest): Promise<void>
    /** Counts an authenticated request against its partner. @throws {ApiError} RATE_LIMITED */
    limitPartner(request: FastifyRequest): Promise<void>
    /**
     * Counts what anybody may send against what it is sent to, whatever `perMinute` is.
     *
     * @throws {ApiError} RATE_LIMITED
     */
    limitArrivals(
      mostAMinute: number,
      keyOf: (request: FastifyRequest) => string,
    ): (request: FastifyRequest) => Promise<void>
  }
}

const unlimited = async () => {}

type Count = ReturnType<FastifyInstance['createRateLimit']>

/**
 * Limits each partner, each address that sends no key, and each address that sends invalid keys to `perMinute`
 * requests; 0 means no limit. Partners behind one address do not share a limit. Counters are per process and kept
 * for the 5,000 most recent partners or addresses.
 */
export const rateLimits = plugin<{ perMinute: number }>(async (app, { perMinute }) => {
  await app.register(rateLimit, { global: false })
  app.decorate('limitArrivals', (max, keyGenerator) => {
    const count = app.createRateLimit({ max, timeWindow: MINUTE_MS, keyGenerator })
    return async (request) => refuseExceeded(await count(request))
  })
  if (perMinute === 0) {
    app.decorate('limitAddress', unlimited)
    app.decorate('limitRefusals', unlimited)
    app.decorate('limitLookups', unlimited)
    app.decorate('limitPartner', unlimited)
    return
  }
  const counter = (keyGenerator?: (request: FastifyRequest) => number) =>
    app.createRateLimit({ max: perMinute, timeWindow: MINUTE_MS, ...(keyGenerator && { keyGenerator }) })
  const refusals = counter()
  const ofPartner = counter(({ partnerId }) => partnerId)
  app.decorate('limitAddress', limit(counter()))
  app.decorate('limitRefusals', limit(refusals))
  app.decorate('limitPartner', limit(ofPartner))
  app.decorate('limitLookups', async (request) => {
    const state = await refusals(request, { increment: false })
    if (!state.isAllowed && state.remaining === 0) throw rateLimited(state.ttlInSeconds)
  })
})

const limit = (count: Count) => async (request: FastifyRequest) => refuseExceeded(await count(request))

function refuseExceeded(result: Awaited<ReturnType<Count>>): void {
  if (!result.isAllowed && result.isExceeded) throw rateLimited(result.ttlInSeconds)
}

const rateLimited = (seconds: number) => retryLater('RATE_LIMITED', 'Too many requests.', seconds)
