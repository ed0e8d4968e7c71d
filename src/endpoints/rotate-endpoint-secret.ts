import type { FastifyPluginAsyncZod } from '@fastify/type-provider-zod'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { Sql } from '../database/sql.ts'
import type { RouteDependencies } from '../http/dependencies.ts'
import { ApiError, invalidRequest } from '../http/errors.ts'
import { integer } from '../http/fields.ts'
import { answerOnce, keyedOperation } from '../http/idempotency.ts'
import { operation } from '../http/operation.ts'
import { EXAMPLE_SECRET, strictBody, success } from '../http/schemas.ts'
import { type Place, type SealAt, sealing } from '../seal.ts'
import { HOUR_MS } from '../values.ts'
import { generateSecret } from '../webhooks/signature.ts'
import { OVERLAP_HOURS } from './endpoint-state.ts'
import { type EndpointView, endpointWithSecret, exampleView, viewOf } from './endpoint-view.ts'
import { oweNotice } from './notices.ts'
import {
  actOnOwnEndpoint,
  actorOf,
  orRefusal,
  requireUrl,
  selfServiceOff,
  type SelfServiceRouteDependencies,
} from './own-endpoint.ts'
import { rotateSecret, secretAt } from './secrets.ts'
import type { LockedEndpoint } from './switch-endpoint.ts'

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

const schema = operation({
  operationId: 'rotateEndpointSecret',
  tags: ['Endpoint'],
  summary: 'Replace your signing secret',
  description:
    'Creates a new signing secret. During the overlap, each webhook is signed with both secrets, so that your receiver can change over at any time. The new secret signs at once, and we email your contact. If you repeat a request with the same `Idempotency-Key` within 24 hours, you get the same response, with the same secret.',
  ...keyedOperation,
  body: strictBody({
    overlap_hours: integer(0, OVERLAP_HOURS.max)
      .default(OVERLAP_HOURS.default)
      .describe(`For how many hours the previous secret also signs; ${OVERLAP_HOURS.default} by default.`),
  }),
  bodyExamples: { default: {}, at_once: { overlap_hours: 0 } },
  response: z.object({
    success,
    data: endpointWithSecret,
  }),
  responseDescription: 'The new secret.',
  responseExamples: {
    rotated: {
      success: true,
      data: { ...exampleView, secret: EXAMPLE_SECRET },
    },
  },
  errors: [
    invalidRequest({ field: 'overlap_hours', problem: 'must be at least 0' }),
    selfServiceOff(),
    new ApiError('NO_ENDPOINT'),
    new ApiError('SECRET_REPLACED'),
    new ApiError('IDEMPOTENCY_CONFLICT'),
  ],
})

type Options = Pick<SelfServiceRouteDependencies, 'sql' | 'environment' | 'encryptionKeys' | 'startEndpoint'>

/** POST /rotate-endpoint-secret (extension): a new signing secret, with an overlap. */
export const rotateEndpointSecret: FastifyPluginAsyncZod<Options> = async (app, options) => {
  app.post('/rotate-endpoint-secret', {
    schema,
    handler: async (request, reply) => {
      const { overlap_hours: overlapHours } = request.body
      let changed: number | undefined
      const call = 'rotate-endpoint-secret'
      const answer = await answerWithNewSecret(options, call, [request, reply], async (trx, made) => {
        const { endpoint, secret } = made
        requireUrl(endpoint)
        const place = await rotateSecret(trx, endpoint.id, secret, overlapHours * HOUR_MS)
        await oweNotice(trx, request.partnerId, 'secret_changed')
        changed = endpoint.id
        return { place, audit: { overlap_hours: overlapHours } }
      })
      // which sends the email
      if (changed !== undefined) options.startEndpoint(changed)
      return answer
    },
  })
}
