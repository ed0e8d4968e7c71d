import type { FastifyPluginAsyncZod } from '@fastify/type-provider-zod'
import { z } from 'zod'
import { oweNotice } from '../../../core/endpoints/statements/notices.ts'
import { rotateSecret } from '../../../core/endpoints/statements/secrets.ts'
import { requireUrl } from '../statements/self-service.ts'
import { HOUR_MS } from '../../../core/values/durations.ts'
import { OVERLAP_HOURS } from '../../../core/endpoints/decisions/endpoint.ts'
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
