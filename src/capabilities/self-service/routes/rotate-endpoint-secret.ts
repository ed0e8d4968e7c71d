import type { FastifyPluginAsyncZod } from '@fastify/type-provider-zod'
import { z } from 'zod'
import { openChange } from '../../../core/endpoints/statements/changes.ts'
import { rotateSecret } from '../../../core/endpoints/statements/secrets.ts'
import { actOnOwnEndpoint, requireUrl } from '../statements/self-service.ts'
import { sealing } from '../../../core/sealing/seal.ts'
import { HOUR_MS } from '../../../core/values/durations.ts'
import { OVERLAP_HOURS } from '../../../core/endpoints/decisions/endpoint-change.ts'
import type { SelfServiceRouteDependencies } from './dependencies.ts'
import { endpointWithSecret, exampleView, viewOf } from './endpoint-view.ts'
import { ApiError, invalidRequest } from '../../../core/http/errors.ts'
import { integer } from '../../../core/http/fields.ts'
import { EXAMPLE_SECRET } from '../../../core/http/openapi/example-secret.ts'
import { operation } from '../../../core/http/openapi/operation.ts'
import { strictBody } from '../../../core/http/schemas.ts'
import { actorOf, orRefusal, selfServiceOff, tooManyActions } from './self-service.ts'
import { generateSecret } from '../../../core/deliveries/webhooks/secrets.ts'
import { success } from '../../../core/http/response-fields.ts'

const schema = operation({
  operationId: 'rotateEndpointSecret',
  tags: ['Endpoint'],
  summary: 'Replace your signing secret',
  description:
    'Creates a new signing secret. During the overlap, each webhook is signed with both secrets, so that your receiver can change over at any time. In a sandbox the new secret signs at once; in production 24 hours after we have emailed your contact. If somebody else knows your secret, contact us: we can replace it at once.',
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
      const { announced } = await orRefusal(
        reply,
        actOnOwnEndpoint(sql, 'rotate', actor, async (trx, endpoint, requestedBy) => {
          requireUrl(endpoint)
          const audit = { overlap_hours: overlapHours }
          if (environment === 'sandbox') {
            await rotateSecret(trx, endpoint.id, sealed, overlapHours * HOUR_MS)
            return { announced: undefined, audit }
          }
          const change = { kind: 'secret', state: 'announced', secret: sealed, overlapHours } as const
          const id = await openChange(trx, endpoint.id, { ...change, requestedBy })
          return { announced: id, audit: { ...audit, change_id: id } }
        }),
      )
      if (announced !== undefined) startRequest((requests) => requests.change(announced))
      const data = await viewOf(sql, request.partnerId)
      return { success: true as const, data: { ...data, secret } }
    },
  })
}
