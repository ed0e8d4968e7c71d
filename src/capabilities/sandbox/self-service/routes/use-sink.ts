import type { FastifyPluginAsyncZod } from '@fastify/type-provider-zod'
import { z } from 'zod'
import { switchAsPartner } from '../../../self-service/statements/certifications.ts'
import { addSecret } from '../../../../core/endpoints/statements/secrets.ts'
import { actOnOwnEndpoint, SelfServiceRefusal } from '../../../self-service/statements/self-service.ts'
import { sealing } from '../../../../core/sealing/seal.ts'
import { provideSink } from '../../statements/sinks.ts'
import { type InSandbox, sandboxOf } from '../../routes/dependencies.ts'
import type { SelfServiceRouteDependencies } from '../../../self-service/routes/dependencies.ts'
import { endpointView, exampleView, viewOf } from '../../../self-service/routes/endpoint-view.ts'
import { ApiError, noObject } from '../../../../core/http/errors.ts'
import { operation } from '../../../../core/http/openapi/operation.ts'
import { actorOf, orRefusal } from '../../../self-service/routes/self-service.ts'
import { sinkPath } from '../../routes/sink.ts'
import { generateSecret } from '../../../../core/deliveries/webhooks/secrets.ts'
import { strictBody } from '../../../../core/http/schemas.ts'
import { success } from '../../../../core/http/response-fields.ts'

type Options = Pick<
  SelfServiceRouteDependencies,
  'sql' | 'environment' | 'encryptionKeys' | 'startEndpoint'
> &
  InSandbox

const schema = operation({
  operationId: 'useSink',
  tags: ['Sandbox'],
  summary: 'Receive webhooks at a sink of ours',
  description:
    'Makes an endpoint of ours yours, for a partner without a public address. It verifies what arrives, and keeps the last 100 webhooks for get-sink. set-sink decides how it answers. Webhooks go there at once. Calling it again has the sink answer 200 again; a pause by our staff is ended by our staff.',
  body: strictBody({}).describe('Empty.'),
  bodyExamples: { nothing: {} },
  response: z.object({ success, data: endpointView }),
  responseDescription: 'Webhooks go to the sink.',
  responseExamples: {
    sink: {
      success: true,
      data: {
        ...exampleView,
        url: 'https://sandbox.example.com/v1/sandbox/sinks/7d1f0e9c2b3a4d5e6f708192a3b4c5d6',
        health: 'active',
        reason: 'its new URL was certified',
      },
    },
  },
  errors: [noObject(), new ApiError('PAUSED_BY_STAFF')],
})

/** POST /sandbox/use-sink: makes an endpoint of ours the partner's. */
export const useSink: FastifyPluginAsyncZod<Options> = async (app, options) => {
  const { sql, environment, encryptionKeys, startEndpoint } = options
  const { sinkBase } = sandboxOf(options) ?? {}
  if (sinkBase === undefined) return
  app.post('/sandbox/use-sink', {
    schema,
    handler: async (request) => {
      const { partnerId } = request
      const url = `${sinkBase()}${sinkPath(await provideSink(sql, partnerId))}`
      const { url: current, health } = await viewOf(sql, partnerId)
      if (current !== url || health === 'paused') {
        const actor = actorOf(request, environment)
        const { id } = await orRefusal(
          actOnOwnEndpoint(sql, 'sink', actor, async (trx, endpoint) => {
            // set once more, it would stay paused
            if (endpoint.url === url && endpoint.pausedBy === 'staff')
              throw new SelfServiceRefusal('paused_by_staff')
            const secret = sealing(generateSecret(), encryptionKeys)
            const secretId = await addSecret(trx, endpoint.id, secret, 'unused')
            // ours: there is nothing to certify
            await switchAsPartner(trx, endpoint, { url, secretId })
            return { id: endpoint.id, audit: { origin: new URL(url).origin, sink: true } }
          }),
        )
        startEndpoint(id)
      }
      return { success: true as const, data: await viewOf(sql, partnerId) }
    },
  })
}
