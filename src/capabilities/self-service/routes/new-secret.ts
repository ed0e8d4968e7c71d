import type { FastifyReply, FastifyRequest } from 'fastify'
import { secretAt } from '../../../core/endpoints/statements/secret-at.ts'
import type { Sql } from '../../../core/database/sql.ts'
import { generateSecret } from '../../../core/deliveries/webhooks/secrets.ts'
import type { RouteDependencies } from '../../../core/http/dependencies.ts'
import { ApiError } from '../../../core/http/errors.ts'
import { answerOnce } from '../../../core/idempotency/routes/idempotency-key.ts'
import { type Place, type SealAt, sealing } from '../../../core/sealing/seal.ts'
import type { LockedEndpoint } from '../../../core/endpoints/statements/endpoint.ts'
import { actOnOwnEndpoint } from '../statements/self-service.ts'
import { type EndpointView, viewOf } from './endpoint-view.ts'
import { actorOf, orRefusal } from './self-service.ts'

/** The calls that make a signing secret, and what each does. */
const actions = { 'set-endpoint': 'set', 'rotate-endpoint-secret': 'rotate' } as const

interface NewSecret {
  endpoint: LockedEndpoint
  secret: SealAt
}

/** Stores a new secret. @returns where it is sealed, and what the audit's row adds. */
type Store = (trx: Sql, made: NewSecret) => Promise<{ place: Place; audit: Record<string, unknown> }>

/**
 * Answers with a partner's endpoint and a new signing secret, once for all requests with the same `Idempotency-Key`. A
 * repeat reads the secret where `store` has sealed it.
 *
 * @throws {ApiError} SECRET_REPLACED if it is not to be used any more.
 */
export async function answerWithNewSecret(
  { sql, encryptionKeys, environment }: Pick<RouteDependencies, 'sql' | 'encryptionKeys' | 'environment'>,
  call: keyof typeof actions,
  [request, reply]: readonly [FastifyRequest, FastifyReply],
  store: Store,
) {
  const { partnerId } = request
  const made = generateSecret()
  const secret = sealing(made, encryptionKeys)
  const given = await answerOnce<EndpointView>(sql, call, [request, reply], async (its, keep) => {
    const acting = actOnOwnEndpoint(
      its,
      actions[call],
      actorOf(request, environment),
      async (trx, endpoint) => {
        const { place, audit } = await store(trx, { endpoint, secret })
        const view = await viewOf(trx, partnerId)
        await keep(view, place)
        return { view, audit }
      },
    )
    return (await orRefusal(acting)).view
  })
  const own = given.kind === 'made' ? made : await secretAt(sql, given.secretAt, encryptionKeys)
  if (own === undefined) throw new ApiError('SECRET_REPLACED')
  return { success: true as const, data: { ...given.answer, secret: own } }
}
