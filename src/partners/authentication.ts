import type { FastifyInstance, FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import type { Sql } from '../database/sql.ts'
import { ApiError } from '../http/errors.ts'
import { type Environment, MINUTE_MS } from '../values.ts'
import { findKeyOwner, hashOf, type KeyOwner, refuseKey } from './keys.ts'

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
  /** Rejects while the database cannot be used. */
  requireRecord: () => Promise<unknown>
}

// RFC 9110, 11.1: the scheme is case-insensitive
const CREDENTIALS = /^service-key +(\S+) *$/i
/** How long a key is cached. A revoked key is accepted for at most that long. */
export const CACHE_MS = 1000
const CACHED_KEYS = 10_000

/** Checks API keys. All refused requests get the same response, but for a key of the other environment. */
export function authenticateKeys(app: FastifyInstance, { sql, environment, requireRecord }: Options): void {
  const bounds = { max: CACHED_KEYS, ttlResolution: 0 }
  const owners = new LRUCache<string, Promise<KeyOwner>>({ ...bounds, ttl: CACHE_MS })
  const touched = new LRUCache<number, true>({ ...bounds, ttl: MINUTE_MS })

  // routes query the database only after this
  async function find(hash: string): Promise<KeyOwner> {
    await requireRecord()
    return findKeyOwner(sql, hash)
  }

  /** Caches the owner of a valid key from when it is looked up. Concurrent requests share one query. */
  function ownerOf(hash: string): Promise<KeyOwner> {
    const cached = owners.get(hash)
    if (cached !== undefined) return cached
    const found = find(hash)
    owners.set(hash, found)
    const forget = () => owners.peek(hash) === found && owners.delete(hash)
    found.then((owner) => 'refusal' in owner && forget(), forget)
    return found
  }

  function touch(keyId: number): void {
    if (touched.has(keyId)) return
    touched.set(keyId, true)
    const key = sql.updateTable('api_keys').set({ last_used_at: new Date() }).where('id', '=', keyId)
    key.execute().catch((err: unknown) => app.log.warn({ err, key_id: keyId }, 'last_used_at not written'))
  }

  /** The reason is only in the log, except for a key of the other environment. */
  async function refused(request: FastifyRequest, reason: string): Promise<ApiError> {
    request.refusal = reason
    await app.limitAddress(request)
    const message =
      reason === 'wrong_environment'
        ? `Authentication failed: this is the ${environment} environment, and the key belongs to the other one.`
        : undefined
    return new ApiError('AUTH_FAILED', message, { 'www-authenticate': 'Service-Key' })
  }

  async function lookUp(request: FastifyRequest, hash: string) {
    const owner = await ownerOf(hash)
    if ('refusal' in owner) throw await refused(request, owner.refusal)
    request.acceptedKey = { hash, at: performance.now() }
    return owner
  }

  app.decorateRequest('partnerId', 0)
  app.decorateRequest('keyId', 0)
  app.decorateRequest('acceptedKey', undefined)
  app.decorate('authenticate', async (request: FastifyRequest) => {
    const { authorization } = request.headers
    if (authorization === undefined) throw await refused(request, 'missing')
    const key = CREDENTIALS.exec(authorization)?.[1]
    if (key === undefined) throw await refused(request, 'wrong_scheme')
    const fault = refuseKey(key, environment)
    if (fault !== undefined) throw await refused(request, fault)
    const { partnerId, keyId } = await lookUp(request, hashOf(key))
    request.partnerId = partnerId
    request.keyId = keyId
    touch(keyId)
    await app.limitPartner(request)
  })
  app.decorate('authenticateAgain', async (request: FastifyRequest) => {
    const { acceptedKey: accepted } = request
    if (accepted !== undefined && performance.now() - accepted.at >= CACHE_MS)
      await lookUp(request, accepted.hash)
  })
}
