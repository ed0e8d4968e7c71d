import type { FastifyPluginAsyncZod } from '@fastify/type-provider-zod'
import { z } from 'zod'
import type { RouteDependencies } from '../http/dependencies.ts'
import { noObject } from '../http/errors.ts'
import { operation } from '../http/operation.ts'
import { strictBody, success } from '../http/schemas.ts'
import { describeReason } from './endpoint-state.ts'
import { endpointView, exampleView, viewOf } from './endpoint-view.ts'
import type { EndpointSettings } from './own-endpoint.ts'

const ownEndpoint = endpointView
  .extend({
    egress_addresses: z
      .array(z.string())
      .describe(
        'The IP addresses and networks that our requests to your endpoint come from, for your firewall. Empty if we promise none: then allow requests by their signature.',
      ),
  })
  .meta({ id: 'OwnEndpoint', description: 'Where your webhooks are sent, and where they come from.' })

const schema = operation({
  operationId: 'getEndpoint',
  tags: ['Endpoint'],
  summary: 'Get your endpoint and its health',
  description:
    'Returns the URL of your endpoint, its health and the reason, how its recent attempts went, what waits, and the URL that you want to change to, with its certification.',
  body: strictBody({}).describe('Empty.'),
  bodyExamples: { nothing: {} },
  response: z.object({ success, data: ownEndpoint }),
  responseDescription: 'The endpoint.',
  responseExamples: {
    paused: {
      success: true,
      data: {
        ...exampleView,
        health: 'paused',
        reason: describeReason('gone'),
        since: '2026-03-09 10:30:00',
        open_deliveries: 12,
        last_error: { at: '2026-03-09 10:30:00', status: 410, error_code: 'http_error', hint: null },
        next_probe_at: '2026-03-09 11:30:00',
        egress_addresses: ['203.0.113.16/28', '2001:db8:40::/48'],
      },
    },
  },
  errors: [noObject()],
})

type Options = Pick<RouteDependencies, 'sql'> & Pick<EndpointSettings, 'egressAddresses'>

/** POST /get-endpoint (extension): where a partner's webhooks go, and how the endpoint is doing. */
export const getEndpoint: FastifyPluginAsyncZod<Options> = async (app, { sql, egressAddresses }) => {
  app.post('/get-endpoint', {
    schema,
    handler: async ({ partnerId }) => ({
      success: true as const,
      data: { ...(await viewOf(sql, partnerId)), egress_addresses: [...egressAddresses] },
    }),
  })
}
