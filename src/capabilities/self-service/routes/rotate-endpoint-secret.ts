import type { FastifyPluginAsyncZod } from '@fastify/type-provider-zod'
import { z } from 'zod'
import { changePlace, openChange } from '../../../core/endpoints/statements/changes.ts'
import { rotateSecret } from '../../../core/endpoints/statements/secrets.ts'
import { requireUrl } from '../statements/self-service.ts'
import { HOUR_MS } from '../../../core/values/durations.ts'
import { OVERLAP_HOURS } from '../../../core/endpoints/decisions/endpoint-change.ts'
import type { SelfServiceRouteDependencies } from './dependencies.ts'
import { endpointWithSecret, exampleView } from './endpoint-view.ts'
import { ApiError, invalidRequest } from '../../../core/http/errors.ts'
import { keyedOperation } from '../../../core/idempotency/routes/idempotency-key.ts'
import { integer } from '../../../core/http/fields.ts'
import { EXAMPLE_SECRET } from '../../../core/http/openapi/example-secret.ts'
import { operation } from '../../../core/http/openapi/operation.ts'
import { strictBody } from '../../../core/http/schemas.ts'
import { answerWithNewSecret } from './new-secret.ts'
import { selfServiceOff } from './self-service.ts'
import { success } from '../../../core/http/response-fields.ts'

const schema = operation({
  operationId: 'rotateEndpointSecret',
  client: { call: 'endpoint.rotateSecret', result: 'endpoint', prints: ['secret'] },
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
    invalidRequest({ field: 'overlap_hours', problem: 'must be at least 0' }),
    selfServiceOff(),
    new ApiError('NO_ENDPOINT'),
    new ApiError('SECRET_REPLACED'),
    new ApiError('IDEMPOTENCY_CONFLICT'),
  ],
})

type Options = Pick<SelfServiceRouteDependencies, 'sql' | 'environment' | 'encryptionKeys' | 'startRequest'>

/** POST /rotate-endpoint-secret (extension): a new signing secret, with an overlap. */
export const rotateEndpointSecret: FastifyPluginAsyncZod<Options> = async (app, options) => {
  const { environment, startRequest } = options
  const start = (changeId: number) => startRequest((requests) => requests.change(changeId))
  app.post('/rotate-endpoint-secret', {
    schema,
    handler: async (request, reply) => {
      const { overlap_hours: overlapHours } = request.body
      let announced: number | undefined
      const call = 'rotate-endpoint-secret'
      const answer = await answerWithNewSecret(options, call, [request, reply], async (trx, made) => {
        const { endpoint, secret, requestedBy } = made
        requireUrl(endpoint)
        const audit = { overlap_hours: overlapHours }
        if (environment === 'sandbox')
          return { place: await rotateSecret(trx, endpoint.id, secret, overlapHours * HOUR_MS), audit }
        const change = { kind: 'secret', state: 'announced', secret, overlapHours, requestedBy } as const
        announced = await openChange(trx, endpoint.id, change)
        return { place: changePlace(announced), audit: { ...audit, change_id: announced } }
      })
      if (announced !== undefined) start(announced)
      return answer
    },
  })
}
