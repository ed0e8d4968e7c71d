import rateLimit from '@fastify/rate-limit'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import plugin from 'fastify-plugin'
import { MINUTE_MS } from '../../values/durations.ts'
import { retryLater } from '../errors.ts'
import { showLimit } from '../rate-limit-headers.ts'
import { WindowStore } from '../window-store.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Counts a request that needs no key against its address. @throws {ApiError} RATE_LIMITED */
    limitAddress(request: FastifyRequest, reply: FastifyReply): Promise<void>
    /** Counts a request without a valid key against its address. @throws {ApiError} RATE_LIMITED */
    limitRefusals(request: FastifyRequest, reply: FastifyReply): Promise<void>
    /**
     * Looks up a key that may be invalid, unless its address has used up its refusals. An address never has more
     * concurrent lookups than refusals left.
     *
     * @throws {ApiError} RATE_LIMITED
     */
    limitLookups<Owner>(
      request: FastifyRequest,
      reply: FastifyReply,
      lookUp: () => Promise<Owner>,
    ): Promise<Owner>
    /** Counts an authenticated request against its partner. @throws {ApiError} RATE_LIMITED */
    limitPartner(request: FastifyRequest, reply: FastifyReply): Promise<void>
    /**
     * Counts what anybody may send against what it is sent to, whatever `perMinute` is. The response does not show it.
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

/** By which responses name the limits. */
const names = { partner: 'default', address: 'address', refusals: 'refusals' }

/**
 * Limits each partner, each address that sends no key, and each address that sends invalid keys to `perMinute`
 * requests; 0 means no limit. Partners behind one address do not share a limit. Counters are per process and kept
 * for the 5,000 most recent partners or addresses. Each response shows what is left.
 */
export const rateLimits = plugin<{ perMinute: number }>(async (app, { perMinute }) => {
  await app.register(rateLimit, { global: false, store: WindowStore })
  app.decorate('limitArrivals', (max, keyGenerator) => {
    const count = app.createRateLimit({ max, timeWindow: MINUTE_MS, keyGenerator })
    return async (request) => refuseExceeded(await count(request))
  })
  if (perMinute === 0) {
    app.decorate('limitAddress', unlimited)
    app.decorate('limitRefusals', unlimited)
    app.decorate('limitLookups', (_request, _reply, lookUp) => lookUp())
    app.decorate('limitPartner', unlimited)
    return
  }
  const counter = (keyGenerator?: (request: FastifyRequest) => number) =>
    app.createRateLimit({ max: perMinute, timeWindow: MINUTE_MS, ...(keyGenerator && { keyGenerator }) })
  const refusals = counter()
  const ofPartner = counter(({ partnerId }) => partnerId)
  const inFlight = new Map<string, number>()
  app.decorate('limitAddress', limit(names.address, counter()))
  app.decorate('limitRefusals', limit(names.refusals, refusals))
  app.decorate('limitPartner', limit(names.partner, ofPartner))
  app.decorate('limitLookups', async (request, reply, lookUp) => {
    const state = await refusals(request, { increment: false })
    if (state.isAllowed) return lookUp()
    const { key: address, remaining, ttlInSeconds } = state
    const others = inFlight.get(address) ?? 0
    if (others >= remaining) {
      show(reply, names.refusals, { ...state, remaining: 0 })
      throw rateLimited(ttlInSeconds)
    }
    inFlight.set(address, others + 1)
    try {
      return await lookUp()
    } finally {
      const left = (inFlight.get(address) ?? 1) - 1
      if (left > 0) inFlight.set(address, left)
      else inFlight.delete(address)
    }
  })
})

const limit = (name: string, count: Count) => async (request: FastifyRequest, reply: FastifyReply) => {
  const result = await count(request)
  if (!result.isAllowed) show(reply, name, result)
  refuseExceeded(result)
}

type Counted = Exclude<Awaited<ReturnType<Count>>, { isAllowed: true }>

const show = (reply: FastifyReply, name: string, { max, timeWindow, remaining, ttlInSeconds }: Counted) =>
  showLimit(reply, name, {
    most: max,
    windowSeconds: timeWindow / 1000,
    left: remaining,
    moreInSeconds: ttlInSeconds,
  })

function refuseExceeded(result: Awaited<ReturnType<Count>>): void {
  if (!result.isAllowed && result.isExceeded) throw rateLimited(result.ttlInSeconds)
}

const rateLimited = (seconds: number) => retryLater('RATE_LIMITED', 'Too many requests.', seconds)
