import type { FastifyPluginAsyncZod } from '@fastify/type-provider-zod'
import { z } from 'zod'
import type { Sql } from '../../../core/database/orm.ts'
import { describeReason } from '../../../core/endpoints/decisions/endpoint.ts'
import { examplePausedHealth } from './endpoint-health.ts'
import { endpointView, exampleView, viewOf } from './endpoint-view.ts'
import { noObject } from '../../../core/http/errors.ts'
import { operation } from '../../../core/http/openapi/operation.ts'
import { strictBody } from '../../../core/http/schemas.ts'
import { success } from '../../../core/http/response-fields.ts'

const schema = operation({
  operationId: 'getEndpoint',
  tags: ['Endpoint'],
  summary: 'Get your endpoint and its health',
  description:
    'Returns the URL of your endpoint, its health and the reason, how its recent attempts went, what waits, and what you have asked for: a new URL and its certification, a new secret, a test request.',
  body: strictBody({}).describe('Empty.'),
  bodyExamples: { nothing: {} },
  response: z.object({ success, data: endpointView }),
  responseDescription: 'The endpoint.',
  responseExamples: {
    paused: {
      success: true,
      data: {
        ...exampleView,
        health: 'paused',
        reason: describeReason('failing'),
        since: '2026-03-09 10:30:00',
        open_deliveries: 12,
        ...examplePausedHealth,
      },
    },
  },
  errors: [noObject()],
})

/** POST /get-endpoint (extension): where a partner's webhooks go, and how the endpoint is doing. */
export const getEndpoint: FastifyPluginAsyncZod<{ sql: Sql }> = async (app, { sql }) => {
  app.post('/get-endpoint', {
    schema,
    handler: async (request) => ({
      success: true as const,
      data: await viewOf(sql, request.partnerId),
    }),
  })
}
