import type { FastifyPluginAsyncZod } from '@fastify/type-provider-zod'
import { findEndpoint } from '../db/endpoints/endpoint.ts'
import type { Sql } from '../db/orm.ts'
import { describeReason, healthOf } from '../domain/endpoint.ts'
import { formatTimestamp } from '../domain/timestamps.ts'
import { ApiError } from '../errors.ts'
import { getEndpointAnswer, getEndpointBody } from './extension-schemas.ts'

/** POST /get-endpoint (extension): where a partner's webhooks go, and how its endpoint is. */
export const getEndpoint: FastifyPluginAsyncZod<{ sql: Sql }> = async (app, { sql }) => {
  app.post('/get-endpoint', {
    schema: { body: getEndpointBody, response: { 200: getEndpointAnswer } },
    handler: async (request) => {
      const endpoint = await findEndpoint(sql, request.partnerId)
      // every partner is made with one
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
