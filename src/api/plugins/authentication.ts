import type { FastifyRequest } from 'fastify'
import plugin from 'fastify-plugin'
import type { Sql } from '../../db/orm.ts'
import {
  findKeyOwner,
  hashOf,
  type KeyOwner,
  type KeyRefusal,
  refuseKey,
  touchKey,
} from '../../db/partners/keys.ts'
import type { Environment } from '../../domain/environment.ts'
import { ApiError, unavailable } from '../errors.ts'
import { recentKeys } from '../recent-keys.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The authenticated partner; 0 on routes that need no key. */
    partnerId: number
    /** The id of the key that authenticated it. */
    keyId: number
  }
  interface FastifyInstance {
    /** Authenticates by `Authorization: Service-Key <API_KEY>`, before the body is read. */
    authenticate(request: FastifyRequest): Promise<void>
  }
}

interface Options {
  sql: Sql
  environment: Environment
  isDatabaseReady: () => Promise<boolean>
}

const SCHEME = /^Service-Key (\S+)$/
/** How long a key is cached: a revoked key works for at most that long. */
const CACHE_MS = 1000
const CACHED_KEYS = 10_000
const TOUCH_MS = 60_000

/** Checks API keys. All invalid keys get the same response; the reason is only in the log. */
export const authentication = plugin<Options>(async (app, { sql, environment, isDatabaseReady }) => {
  const recent = recentKeys(() => performance.now())
  const touched = new Map<number, number>()

  // routes query the database only after this
  const ownerOf = cachedOwners(async (hash) => {
    if (!(await isDatabaseReady())) throw unavailable()
    return findKeyOwner(sql, hash)
  })

  function touch({ keyId }: KeyOwner): void {
    if ((touched.get(keyId) ?? 0) > Date.now() - TOUCH_MS) return
    touched.set(keyId, Date.now())
    touchKey(sql, keyId).catch((err: unknown) =>
      app.log.warn({ err, key_id: keyId }, 'last_used_at not written'),
    )
  }

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
    if (typeof owner === 'string') {
      recent.delete(hash)
      throw await refused(request, owner)
    }
    recent.add(hash)
    return owner
  }

  app.decorateRequest('partnerId', 0)
  app.decorateRequest('keyId', 0)
  app.decorate('authenticate', async (request: FastifyRequest) => {
    const { authorization } = request.headers
    const [, key] = SCHEME.exec(authorization ?? '') ?? []
    if (key === undefined) {
      throw await refused(request, authorization === undefined ? 'missing' : 'wrong_scheme')
    }
    const fault = refuseKey(key, environment)
    if (fault !== undefined) throw await refused(request, fault)
    const hash = hashOf(key)
    const find = () => lookUp(request, hash)
    const owner = await (recent.has(hash) ? find() : app.limitLookups(request, find))
    request.partnerId = owner.partnerId
    request.keyId = owner.keyId
    touch(owner)
    await app.limitPartner(request)
  })
})

/** Caches the owner of a valid key for a second. Concurrent requests share one query. */
function cachedOwners(find: (hash: string) => Promise<KeyOwner | KeyRefusal>) {
  const cache = new Map<string, { owner: Promise<KeyOwner | KeyRefusal>; until: number }>()
  return async (hash: string): Promise<KeyOwner | KeyRefusal> => {
    const now = performance.now()
    const cached = cache.get(hash)
    if (cached !== undefined && cached.until > now) return cached.owner
    if (cache.size >= CACHED_KEYS) cache.clear()
    const entry = { owner: find(hash), until: now + CACHE_MS }
    cache.set(hash, entry)
    const forget = () => {
      if (cache.get(hash) === entry) cache.delete(hash)
    }
    entry.owner.then((owner) => typeof owner === 'string' && forget(), forget)
    return entry.owner
  }
}
