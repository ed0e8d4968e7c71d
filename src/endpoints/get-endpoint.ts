import type { FastifyPluginAsyncZod } from '@fastify/type-provider-zod'
import type { RouteDependencies } from '../http/dependencies.ts'
import { noObject } from '../http/errors.ts'
import { operation } from '../http/operation.ts'
import { emptyBody, endpointResponse, viewOf } from './endpoint-view.ts'

const schema = operation({
  operationId: 'getEndpoint',
  tags: ['Endpoint'],
  summary: 'Get your endpoint and its health',
  description:
    'Returns the URL of your endpoint, its health and the reason, what waits, and the URL that you want to change to, with its certification.',
  ...emptyBody,
  ...endpointResponse,
  errors: [noObject()],
})

/** POST /get-endpoint (extension): where a partner's webhooks go, and how the endpoint is doing. */
export const getEndpoint: FastifyPluginAsyncZod<Pick<RouteDependencies, 'sql'>> = async (app, { sql }) => {
  app.post('/get-endpoint', {
    schema,
    handler: async ({ partnerId }) => ({ success: true as const, data: await viewOf(sql, partnerId) }),
  })
}
