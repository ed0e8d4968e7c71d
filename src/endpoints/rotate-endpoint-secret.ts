import type { FastifyPluginAsyncZod } from '@fastify/type-provider-zod'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Sql } from '../database/sql.ts'
import { ApiError, invalidRequest } from '../http/errors.ts'
import { integer } from '../http/fields.ts'
import { answerOnce, keyedOperation } from '../http/idempotency.ts'
import { operation } from '../http/operation.ts'
import { strictBody } from '../http/schemas.ts'
import { type SealAt, sealing } from '../seal.ts'
import { HOUR_MS } from '../values.ts'
import { generateSecret } from '../webhooks/signature.ts'
import { responseWithSecret, viewOf } from './get-endpoint.ts'
import type { LockedEndpoint } from './endpoint.ts'
import { oweNotice } from './notices.ts'
import { changeOwnEndpoint, type EndpointDependencies, requireUrl } from './own-endpoint.ts'
import { addSecret, secretAt, secretPlace, signWith } from './secrets.ts'

/**
 * Answers with a partner's endpoint and a new signing secret, once for all requests with the same `Idempotency-Key`. A
 * repeat reads the secret where `store` has sealed it.
 *
 * @param store stores the secret. It returns its id, and what the audit row adds.
 * @throws {ApiError} SECRET_REPLACED if the secret was replaced since.
 */
export async function answerWithNewSecret(
  { sql, encryptionKeys }: Pick<EndpointDependencies, 'sql' | 'encryptionKeys'>,
  { call, action }: { call: 'set-endpoint' | 'rotate-endpoint-secret'; action: `endpoint.${string}` },
  [request, reply]: readonly [FastifyRequest, FastifyReply],
  store: (
    trx: Sql,
    endpoint: LockedEndpoint,
    secret: SealAt,
  ) => Promise<{ secretId: number; audit: Record<string, unknown> }>,
) {
  const made = generateSecret()
  const given = await answerOnce(sql, call, [request, reply], (its) =>
    changeOwnEndpoint(its, request, action, async (trx, endpoint) => {
      const { secretId, audit } = await store(trx, endpoint, sealing(made, encryptionKeys))
      return { answer: await viewOf(trx, request.partnerId), secretAt: secretPlace(secretId), audit }
    }),
  )
  const secret = given.kind === 'made' ? made : await secretAt(sql, given.secretAt, encryptionKeys)
  if (secret === undefined) throw new ApiError('SECRET_REPLACED')
  return { success: true as const, data: { ...given.answer, secret } }
}

const schema = operation({
  operationId: 'rotateEndpointSecret',
  tags: ['Endpoint'],
  summary: 'Replace your signing secret',
  description:
    'Creates a new signing secret. During the overlap, each webhook is signed with both secrets, so that your receiver can change over at any time. The new secret signs at once, and we email your contact. If you repeat a request with the same `Idempotency-Key` within 24 hours, you get the same response, with the same secret.',
  ...keyedOperation,
  body: strictBody({
    overlap_hours: integer(0, 7 * 24)
      .default(24)
      .describe('For how many hours the previous secret also signs; 24 by default.'),
  }),
  bodyExamples: { default: {}, at_once: { overlap_hours: 0 } },
  ...responseWithSecret,
  errors: [
    invalidRequest({ field: 'overlap_hours', problem: 'must be at least 0' }),
    new ApiError('NO_ENDPOINT'),
    new ApiError('SECRET_REPLACED'),
    new ApiError('IDEMPOTENCY_CONFLICT'),
  ],
})

/** POST /rotate-endpoint-secret (extension): a new signing secret, with an overlap. */
export const rotateEndpointSecret: FastifyPluginAsyncZod<EndpointDependencies> = async (app, options) => {
  const call = { call: 'rotate-endpoint-secret', action: 'endpoint.rotate_secret' } as const
  app.post('/rotate-endpoint-secret', {
    schema,
    handler: async (request, reply) => {
      const { overlap_hours: overlapHours } = request.body
      const answer = await answerWithNewSecret(
        options,
        call,
        [request, reply],
        async (trx, endpoint, sealAt) => {
          requireUrl(endpoint)
          const secretId = await rotateSecret(trx, endpoint, sealAt, overlapHours * HOUR_MS)
          return { secretId, audit: { overlap_hours: overlapHours } }
        },
      )
      // its workflow sends the mail
      options.startEndpoint(request.partnerId)
      return answer
    },
  })
}

/** Gives an endpoint another signing secret, and tells partner and staff. The caller's transaction has it locked. */
export async function rotateSecret(
  trx: Sql,
  { partner_id: partnerId }: LockedEndpoint,
  sealAt: SealAt,
  overlapMs: number,
): Promise<number> {
  const secretId = await addSecret(trx, partnerId, sealAt)
  await signWith(trx, partnerId, secretId, overlapMs)
  await oweNotice(trx, partnerId, 'secret_changed')
  return secretId
}
