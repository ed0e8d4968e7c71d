import type { FastifyRequest } from 'fastify'
import plugin from 'fastify-plugin'
import { findKeyOwner, type KeyOwner, type KeyRefusal, refuseKey, touchKey } from '../../db/keys.ts'
import type { Sql } from '../../db/orm.ts'
import { ApiError } from '../../errors.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The authenticated partner; 0 on routes that need no key. */
    partnerId: number
  }
  interface FastifyInstance {
    /** Authenticates by `Authorization: Service-Key <API_KEY>`, before the body is looked at. */
    authenticate(request: FastifyRequest): Promise<void>
  }
}

interface Options {
  sql: Sql
  environment: 'sandbox' | 'production'
}

const SCHEME = /^Service-Key +(\S+)$/i
/** How long a key is believed without asking the database: a revoked one opens nothing after that. */
const CACHE_MS = 1000
const CACHED_KEYS = 10_000
const TOUCH_MS = 60_000

/** Keys and their owners. One answer for every refusal; the true reason is for the log. */
export const authentication = plugin<Options>(async (app, { sql, environment }) => {
  const cache = new Map<string, { owner: KeyOwner; until: number }>()
  const touched = new Map<number, number>()

  async function ownerOf(key: string): Promise<KeyOwner | KeyRefusal> {
    const refusal = refuseKey(key, environment)
    if (refusal !== undefined) return refusal
    const cached = cache.get(key)
    if (cached !== undefined && cached.until > Date.now()) return cached.owner
    const owner = await findKeyOwner(sql, key)
    if (cache.size >= CACHED_KEYS) cache.clear()
    if (typeof owner === 'string') cache.delete(key)
    else cache.set(key, { owner, until: Date.now() + CACHE_MS })
    return owner
  }

  function touch({ keyId }: KeyOwner): void {
    if ((touched.get(keyId) ?? 0) > Date.now() - TOUCH_MS) return
    touched.set(keyId, Date.now())
    touchKey(sql, keyId).catch((err: unknown) =>
      app.log.warn({ err, key_id: keyId }, 'last_used_at not written'),
    )
  }

  app.decorateRequest('partnerId', 0)
  app.decorate('authenticate', async (request: FastifyRequest) => {
    const [, key] = SCHEME.exec(request.headers.authorization ?? '') ?? []
    const owner = key === undefined ? 'malformed' : await ownerOf(key)
    if (typeof owner === 'string') {
      request.log.info({ reason: owner }, 'authentication failed')
      throw refusal(owner, environment)
    }
    request.partnerId = owner.partnerId
    touch(owner)
  })
})

function refusal(reason: KeyRefusal, environment: string): ApiError {
  if (reason !== 'wrong_environment') return new ApiError('AUTH_FAILED')
  return new ApiError(
    'AUTH_FAILED',
    `Authentication failed: this is the ${environment}, and the key is the other environment’s.`,
  )
}
