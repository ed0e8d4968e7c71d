import type { FastifyPluginAsyncZod } from '@fastify/type-provider-zod'
import { z } from 'zod'
import { requestPing } from '../statements/pings.ts'
import { actOnOwnEndpoint, requireUrl } from '../statements/self-service.ts'
import type { SelfServiceRouteDependencies } from './dependencies.ts'
import { endpointView, exampleView, viewOf } from './endpoint-view.ts'
import { ApiError, noObject } from '../../../core/http/errors.ts'
import { operation } from '../../../core/http/openapi/operation.ts'
import { strictBody } from '../../../core/http/schemas.ts'
import { actorOf, orRefusal, selfServiceOff } from './self-service.ts'
import { success } from '../../../core/http/response-fields.ts'

const schema = operation({
  operationId: 'testEndpoint',
  client: { call: 'endpoint.test', result: 'endpoint', prints: ['last_test'] },
  tags: ['Endpoint'],
  summary: 'Send a test request to your endpoint',
  description:
    'Sends one signed request of type `endpoint.ping` to your endpoint, even while it is paused. It is not an event: it appears in no history and is not retried. get-endpoint shows the response as `last_test`. While one is under way, calling it again changes nothing.',
  body: strictBody({}).describe('Empty.'),
  bodyExamples: { nothing: {} },
  response: z.object({ success, data: endpointView }),
  responseDescription: 'The request is being sent.',
  responseExamples: {
    running: {
      success: true,
      data: {
        ...exampleView,
        last_test: {
          state: 'running',
          requested_at: '2026-03-09 10:00:00',
          finished_at: null,
          webhook_id: null,
          status: null,
          duration_ms: null,
          error_code: null,
          hint: null,
        },
      },
    },
  },
  errors: [noObject(), selfServiceOff(), new ApiError('NO_ENDPOINT')],
})

type Options = Pick<SelfServiceRouteDependencies, 'sql' | 'environment' | 'startRequest'>

/** POST /test-endpoint (extension): one signed request that is no event. */
export const testEndpoint: FastifyPluginAsyncZod<Options> = async (app, options) => {
  const { sql, environment, startRequest } = options
  app.post('/test-endpoint', {
    schema,
    handler: async (request) => {
      const actor = actorOf(request, environment)
      const { id } = await orRefusal(
        actOnOwnEndpoint(sql, 'test', actor, async (trx, endpoint) => {
          requireUrl(endpoint)
          const asked = await requestPing(trx, endpoint.id)
          return { id: asked.id, audit: asked.isNew ? { ping_id: asked.id } : null }
        }),
      )
      startRequest((requests) => requests.ping(id))
      return { success: true as const, data: await viewOf(sql, request.partnerId) }
    },
  })
}
