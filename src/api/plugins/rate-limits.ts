import rateLimit from '@fastify/rate-limit'
import type { FastifyRequest } from 'fastify'
import plugin from 'fastify-plugin'
import { ApiError } from '../../errors.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Counts a request that needs no key against its address. @throws {ApiError} RATE_LIMITED */
    limitAddress(request: FastifyRequest): Promise<void>
    /** Counts a request without a valid key against its address. @throws {ApiError} RATE_LIMITED */
    limitRefusals(request: FastifyRequest): Promise<void>
    /**
     * Looks up a key that may be refused: not at all once its address has had too many refusals, and at no time
     * more keys of an address than it has refusals left.
     *
     * @throws {ApiError} RATE_LIMITED
     */
    limitLookups<Owner>(request: FastifyRequest, lookUp: () => Promise<Owner>): Promise<Owner>
    /** Counts an authenticated request against its partner. @throws {ApiError} RATE_LIMITED */
    limitPartner(request: FastifyRequest): Promise<void>
  }
}

const MINUTE_MS = 60_000
const unlimited = async () => {}

/**
 * At most `perMinute` requests a minute, 0 for no limit: of each partner, of each address that sends no key, and of
 * each address that sends keys which are refused. So partners behind one address do not take from each other.
 * Counted in this process, for the 5,000 partners or addresses that came last.
 */
export const rateLimits = plugin<{ perMinute: number }>(async (app, { perMinute }) => {
  if (perMinute === 0) {
    app.decorate('limitAddress', unlimited)
    app.decorate('limitRefusals', unlimited)
    app.decorate('limitLookups', (_request, lookUp) => lookUp())
    app.decorate('limitPartner', unlimited)
    return
  }
  await app.register(rateLimit, { global: false })
  const counter = (keyGenerator?: (request: FastifyRequest) => number) =>
    app.createRateLimit({ max: perMinute, timeWindow: MINUTE_MS, ...(keyGenerator && { keyGenerator }) })
  const limit = (count: ReturnType<typeof counter>) => async (request: FastifyRequest) => {
    const result = await count(request)
    if (!result.isAllowed && result.isExceeded) throw rateLimited(result.ttlInSeconds)
  }
  const refusals = counter()
  const underWay = new Map<string, number>()
  app.decorate('limitAddress', limit(counter()))
  app.decorate('limitRefusals', limit(refusals))
  app.decorate('limitPartner', limit(counter(({ partnerId }) => partnerId)))
  app.decorate('limitLookups', async (request, lookUp) => {
    const state = await refusals(request, { increment: false })
    if (state.isAllowed) return lookUp()
    const { key: address, remaining, ttlInSeconds } = state
    const others = underWay.get(address) ?? 0
    if (others >= remaining) throw rateLimited(ttlInSeconds)
    underWay.set(address, others + 1)
    try {
      return await lookUp()
    } finally {
      const left = (underWay.get(address) ?? 1) - 1
      if (left > 0) underWay.set(address, left)
      else underWay.delete(address)
    }
  })
})

function rateLimited(seconds: number): ApiError {
  return new ApiError('RATE_LIMITED', undefined, { 'retry-after': String(Math.max(1, seconds)) })
}
