import type { FastifyPluginAsyncZod } from '@fastify/type-provider-zod'
import { z } from 'zod'
import { ApiError, noObject, unavailable } from '../http/errors.ts'
import { operation } from '../http/operation.ts'
import { errorCode, httpStatus, success } from '../http/schemas.ts'
import { emptyBody } from './get-endpoint.ts'
import { changeOwnEndpoint, type EndpointDependencies, requireUrl } from './own-endpoint.ts'

const testRequest = z
  .object({
    accepted: z.boolean().describe('Whether your endpoint responded with a 2xx status.'),
    webhook_id: z.string().describe('The header `webhook-id`.'),
    status: httpStatus,
    duration_ms: z.int().describe('How long the response took.'),
    error_code: errorCode,
    hint: z.string().nullable().describe('What to do about a failure.'),
  })
  .meta({ id: 'TestRequest' })

const schema = operation({
  operationId: 'testEndpoint',
  tags: ['Endpoint'],
  summary: 'Send a test request to your endpoint',
  description:
    'Sends one signed request of type `endpoint.ping` to your endpoint, even while it is paused, and returns how it responded. It is not an event: it appears in no history and is not retried. While a test request is in progress, another call returns the response to that request.',
  ...emptyBody,
  response: z.object({ success, data: testRequest }),
  responseDescription: 'How your endpoint responded.',
  responseExamples: {
    accepted: {
      success: true,
      data: {
        accepted: true,
        webhook_id: 'ping_0195550a-6b8a-7c31-9d2e-3f4a5b6c7d8e',
        status: 200,
        duration_ms: 84,
        error_code: null,
        hint: null,
      },
    },
  },
  errors: [noObject(), new ApiError('NO_ENDPOINT')],
})

/** POST /test-endpoint (extension): one signed request that is no event. A worker sends it, as it sends all requests. */
export const testEndpoint: FastifyPluginAsyncZod<EndpointDependencies> = async (
  app,
  { sql, endpointRequests },
) => {
  app.post('/test-endpoint', {
    schema,
    handler: async (request) => {
      await changeOwnEndpoint(sql, request, 'endpoint.ping', async (_, endpoint) => {
        requireUrl(endpoint)
        return { audit: {} }
      })
      const { ok: accepted, ...rest } = await endpointRequests
        .ping(request.partnerId)
        .catch((err: unknown) => {
          request.log.warn({ err }, 'the test request was not made')
          throw unavailable()
        })
      return { success: true as const, data: { accepted, ...rest } }
    },
  })
}
