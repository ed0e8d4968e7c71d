import type { FastifyPluginAsyncZod } from '@fastify/type-provider-zod'
import { z } from 'zod'
import { changePlace, openChange } from '../../../core/endpoints/statements/changes.ts'
import { rotateSecret } from '../../../core/endpoints/statements/secrets.ts'
import { actOnOwnEndpoint, requireUrl } from '../statements/self-service.ts'
import { sealing } from '../../../core/sealing/seal.ts'
import { HOUR_MS } from '../../../core/values/durations.ts'
import { OVERLAP_HOURS } from '../../../core/endpoints/decisions/endpoint-change.ts'
import type { SelfServiceRouteDependencies } from './dependencies.ts'
import { type EndpointView, endpointWithSecret, exampleView, viewOf } from './endpoint-view.ts'
import { ApiError, invalidPayload } from '../../../core/http/errors.ts'
import { answerOnce, keyedOperation } from '../../../core/idempotency/routes/idempotency-key.ts'
import { integer } from '../../../core/http/fields.ts'
import { EXAMPLE_SECRET } from '../../../core/http/openapi/example-secret.ts'
import { operation } from '../../../core/http/openapi/operation.ts'
import { strictBody } from '../../../core/http/schemas.ts'
import { actorOf, orRefusal, secretAgain, selfServiceOff, tooManyActions } from './self-service.ts'
import { generateSecret } from '../../../core/deliveries/webhooks/secrets.ts'
import { success } from '../../../core/http/response-fields.ts'

const schema = operation({
  operationId: 'rotateEndpointSecret',
  tags: ['Endpoint'],
  summary: 'Replace your signing secret',
  description:
    'Creates a new signing secret. During the overlap, each webhook is signed with both secrets, so that your receiver can change over at any time. In a sandbox the new secret signs at once; in production 24 hours after we have emailed your contact. If somebody else knows your secret, contact us: we can replace it at once. If you repeat a request with the same `Idempotency-Key` within 24 hours, you get the same response, with the same secret.',
  ...keyedOperation,
  body: strictBody({
    overlap_hours: integer(0, OVERLAP_HOURS.max)
      .default(OVERLAP_HOURS.default)
      .describe(
        `For how many hours the previous secret also signs, once the new one does; ${OVERLAP_HOURS.default} by default.`,
      ),
  }),
  bodyExamples: { default: {}, at_once: { overlap_hours: 0 } },
  response: z.object({
    success,
    data: endpointWithSecret,
  }),
  responseDescription: 'The new secret. In production, `new_secret` shows when it begins to sign.',
  responseExamples: {
    rotated: {
      success: true,
      data: { ...exampleView, secret: EXAMPLE_SECRET },
    },
  },
  errors: [
    invalidPayload('Invalid request: overlap_hours must be at least 0.'),
    selfServiceOff(),
    new ApiError('NO_ENDPOINT'),
    new ApiError('SECRET_REPLACED'),
    new ApiError('IDEMPOTENCY_CONFLICT'),
    tooManyActions(),
  ],
})

type Options = Pick<SelfServiceRouteDependencies, 'sql' | 'environment' | 'encryptionKeys' | 'startRequest'>

/** POST /rotate-endpoint-secret (extension): a new signing secret, with an overlap. */
export const rotateEndpointSecret: FastifyPluginAsyncZod<Options> = async (app, options) => {
  const { sql, environment, encryptionKeys, startRequest } = options
  app.post('/rotate-endpoint-secret', {
    schema,
    handler: async (request, reply) => {
      const { overlap_hours: overlapHours } = request.body
      const secret = generateSecret()
      const sealed = sealing(secret, encryptionKeys)
      const actor = actorOf(request, environment)
      let announced: number | undefined
      const call = 'rotate-endpoint-secret'
      const given = await answerOnce<EndpointView>(sql, call, [request, reply], async (its, keep) => {
        const { view } = await orRefusal(
          actOnOwnEndpoint(its, 'rotate', actor, async (trx, endpoint, requestedBy) => {
            requireUrl(endpoint)
            const audit = { overlap_hours: overlapHours }
            if (environment === 'sandbox') {
              const place = await rotateSecret(trx, endpoint.id, sealed, overlapHours * HOUR_MS)
              const view = await viewOf(trx, request.partnerId)
              await keep(view, place)
              return { view, audit }
            }
            const change = { kind: 'secret', state: 'announced', secret: sealed, overlapHours } as const
            announced = await openChange(trx, endpoint.id, { ...change, requestedBy })
            const view = await viewOf(trx, request.partnerId)
            await keep(view, changePlace(announced))
            return { view, audit: { ...audit, change_id: announced } }
          }),
        )
        return view
      })
      if (announced !== undefined) {
        const id = announced
        startRequest((requests) => requests.change(id))
      }
      const own = given.kind === 'made' ? secret : await secretAgain(options, given.secretAt)
      return { success: true as const, data: { ...given.answer, secret: own } }
    },
  })
}
