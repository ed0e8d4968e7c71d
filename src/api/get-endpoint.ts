import type { FastifyPluginAsyncZod } from '@fastify/type-provider-zod'
import { z } from 'zod'
import { findEndpoint } from '../db/endpoints/endpoint.ts'
import type { Sql } from '../db/orm.ts'
import { describeReason, endpointHealths, healthOf } from '../domain/endpoint.ts'
import { formatTimestamp } from '../domain/timestamps.ts'
import { ApiError, invalidPayload } from './errors.ts'
import { timestamp } from './fields.ts'
import { operation } from './openapi/operation.ts'
import { success } from './schemas.ts'

const schema = operation({
  operationId: 'getEndpoint',
  tags: ['Extensions'],
  summary: 'Get the health of your endpoint',
  description:
    'Returns the URL of your endpoint, its health and the reason, and how many deliveries are open.',
  body: z.object({}, 'must be a JSON object').describe('Empty.'),
  bodyExamples: { nothing: {} },
  response: z.object({
    success,
    data: z.object({
      url: z.string().nullable().describe('`null` if none is registered.'),
      health: z
        .enum(endpointHealths)
        .describe(
          '`failing`: webhooks are sent, and every recent attempt failed. `paused`: webhooks are held. `draining`: held webhooks are being sent.',
        ),
      reason: z.string().describe('For people.'),
      since: timestamp,
      open_deliveries: z.int(),
    }),
  }),
  responseDescription: 'The endpoint.',
  responseExamples: {
    paused: {
      success: true,
      data: {
        url: 'https://lender.example.com/webhooks',
        health: 'paused',
        reason: describeReason('failing'),
        since: '2026-03-09 10:30:00',
        open_deliveries: 12,
      },
    },
  },
  errors: [invalidPayload('Invalid request: the request body must be a JSON object.')],
})

/** POST /get-endpoint (extension): where a partner's webhooks go, and the endpoint's health. */
export const getEndpoint: FastifyPluginAsyncZod<{ sql: Sql }> = async (app, { sql }) => {
  app.post('/get-endpoint', {
    schema,
    handler: async (request) => {
      const endpoint = await findEndpoint(sql, request.partnerId)
      // every partner has one from the start
      if (endpoint === undefined) throw new ApiError('INTERNAL_ERROR')
      const { health, reason, since } = healthOf({ ...endpoint, failingSince: endpoint.failing_since })
      return {
        success: true as const,
        data: {
          url: endpoint.url,
          health,
          reason: describeReason(reason),
          since: formatTimestamp(since),
          open_deliveries: endpoint.open_deliveries ?? 0,
        },
      }
    },
  })
}
