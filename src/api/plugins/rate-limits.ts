import rateLimit from '@fastify/rate-limit'
import type { FastifyRequest } from 'fastify'
import plugin from 'fastify-plugin'
import { ApiError } from '../../errors.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Counts a request that nobody has answered for against its address. @throws {ApiError} RATE_LIMITED */
    limitAddress(request: FastifyRequest): Promise<void>
    /** Counts an authenticated request against its partner. @throws {ApiError} RATE_LIMITED */
    limitPartner(request: FastifyRequest): Promise<void>
  }
}

const MINUTE_MS = 60_000
const unlimited = async () => {}

/**
 * At most `perMinute` requests a minute, 0 for no limit: of each partner, and of each address that sends no
 * valid key, so that partners behind one address do not take from each other. Counted in this process.
 */
export const rateLimits = plugin<{ perMinute: number }>(async (app, { perMinute }) => {
  if (perMinute === 0) {
    app.decorate('limitAddress', unlimited)
    app.decorate('limitPartner', unlimited)
    return
  }
  await app.register(rateLimit, { global: false })
  const limit = (options: { keyGenerator?: (request: FastifyRequest) => number }) => {
    const count = app.createRateLimit({ max: perMinute, timeWindow: MINUTE_MS, ...options })
    return async (request: FastifyRequest) => {
      const result = await count(request)
      if (result.isAllowed || !result.isExceeded) return
      throw new ApiError('RATE_LIMITED', undefined, {
        'retry-after': String(Math.max(1, result.ttlInSeconds)),
      })
    }
  }
  app.decorate('limitAddress', limit({}))
  app.decorate('limitPartner', limit({ keyGenerator: ({ partnerId }) => partnerId }))
})
