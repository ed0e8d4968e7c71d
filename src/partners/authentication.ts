import type { FastifyRequest } from 'fastify'
import plugin from 'fastify-plugin'
import { LRUCache } from 'lru-cache'
import type { Sql } from '../database/sql.ts'
import { findKeyOwner, hashOf, type KeyOwner, type RefusedKey, refuseKey, touchKey } from './keys.ts'
import { type Environment, MINUTE_MS } from '../values.ts'
import { ApiError, unavailable } from '../http/errors.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The authenticated partner; 0 on routes that need no key. */
    partnerId: number
    /** The id of the key that authenticated it. */
    keyId: number
    /** The hash of the key that was accepted, and when. */
    acceptedKey: { hash: string; at: number } | undefined
  }
  interface FastifyInstance {
    /** Authenticates by `Authorization: Service-Key <API_KEY>`, before the body is read. */
    authenticate(request: FastifyRequest): Promise<void>
    /** Refuses a request whose key was revoked meanwhile: its body came slowly, or it waited. */
    authenticateAgain(request: FastifyRequest): Promise<void>
  }
}

interface Options {
  sql: Sql
  environment: Environment
  isDatabaseReady: () => Promise<boolean>
}

// a scheme is written in any case: RFC 9110, 11.1
const CREDENTIALS = /^(\S+)(?: +(\S+))? *$/
const OUR_SCHEME = 'service-key'
/** How long a key is cached: a revoked key is accepted for at most that long, and what was accepted goes on for as long. */
export const CACHE_MS = 1000
const CACHED_KEYS = 10_000
const RECENT_MS = 10 * MINUTE_MS
const TOUCH_MS = MINUTE_MS

/**
 * Checks API keys. All that are refused get the same response, but for a key of the other environment.
 */
export const authentication = plugin<Options>(async (app, { sql, environment, isDatabaseReady }) => {
  /** Keys that were good a short time ago still work while others at their address send bad ones. */
  const recent = new LRUCache<string, true>({ max: CACHED_KEYS, ttl: RECENT_MS, ttlResolution: 0 })
  const touched = new LRUCache<number, true>({ max: CACHED_KEYS, ttl: TOUCH_MS, ttlResolution: 0 })

  // routes query the database only after this
  const ownerOf = cachedOwners(async (hash) => {
    if (!(await isDatabaseReady())) throw unavailable()
    return findKeyOwner(sql, hash)
  })

  function touch({ keyId }: KeyOwner): void {
    if (touched.has(keyId)) return
    touched.set(keyId, true)
    touchKey(sql, keyId).catch((err: unknown) =>
      app.log.warn({ err, key_id: keyId }, 'last_used_at not written'),
    )
  }

  /** The reason is only in the log, but for what the sender knows already. */
  async function refused(request: FastifyRequest, reason: string): Promise<ApiError> {
    request.refusal = reason
    await app.limitRefusals(request)
    const message =
      reason === 'wrong_environment'
        ? `Authentication failed: this is the ${environment} environment, and the key belongs to the other one.`
        : undefined
    return new ApiError('AUTH_FAILED', message, { 'www-authenticate': 'Service-Key' })
  }

  async function lookUp(request: FastifyRequest, hash: string): Promise<KeyOwner> {
    const owner = await ownerOf(hash)
    if ('refusal' in owner) {
      recent.delete(hash)
      throw await refused(request, owner.refusal)
    }
    recent.set(hash, true)
    return owner
  }

  app.decorateRequest('partnerId', 0)
  app.decorateRequest('keyId', 0)
  app.decorateRequest('acceptedKey', undefined)
  app.decorate('authenticate', async (request: FastifyRequest) => {
    const { authorization } = request.headers
    if (authorization === undefined) throw await refused(request, 'missing')
    const [, scheme = '', key] = CREDENTIALS.exec(authorization) ?? []
    if (scheme.toLowerCase() !== OUR_SCHEME || key === undefined) throw await refused(request, 'wrong_scheme')
    const fault = refuseKey(key, environment)
    if (fault !== undefined) throw await refused(request, fault)
    const hash = hashOf(key)
    if (!recent.has(hash)) await app.limitLookups(request)
    const owner = await lookUp(request, hash)
    request.acceptedKey = { hash, at: performance.now() }
    request.partnerId = owner.partnerId
    request.keyId = owner.keyId
    touch(owner)
    await app.limitPartner(request)
  })
  app.decorate('authenticateAgain', async (request: FastifyRequest) => {
    const { acceptedKey: accepted } = request
    if (accepted === undefined || performance.now() - accepted.at < CACHE_MS) return
    await lookUp(request, accepted.hash)
    accepted.at = performance.now()
  })
})

type Found = Promise<KeyOwner | RefusedKey>

/** Caches the owner of a valid key for a second from when it is looked up. Concurrent requests share one query. */
function cachedOwners(find: (hash: string) => Found): (hash: string) => Found {
  const owners = new LRUCache<string, Found>({ max: CACHED_KEYS, ttl: CACHE_MS, ttlResolution: 0 })
  return (hash) => {
    const cached = owners.get(hash)
    if (cached !== undefined) return cached
    const found = find(hash)
    owners.set(hash, found)
    const forget = () => owners.peek(hash) === found && owners.delete(hash)
    found.then((owner) => 'refusal' in owner && forget(), forget)
    return found
  }
}
