import type { FastifyPluginAsyncZod } from '@fastify/type-provider-zod'
import { z } from 'zod'
import { openChange } from '../../../core/endpoints/statements/changes.ts'
import { actOnOwnEndpoint } from '../statements/self-service.ts'
import { sealing } from '../../../core/sealing/seal.ts'
import { checkEndpointUrl } from '../../../core/deliveries/webhooks/endpoint-url.ts'
import { exampleUnusedHealth } from './endpoint-health.ts'
import type { SelfServiceRouteDependencies } from './dependencies.ts'
import { endpointWithSecret, exampleView, viewOf } from './endpoint-view.ts'
import { invalidRequest } from '../../../core/http/errors.ts'
import { requiredOr } from '../../../core/http/fields.ts'
import { EXAMPLE_SECRET } from '../../../core/http/openapi/example-secret.ts'
import { operation } from '../../../core/http/openapi/operation.ts'
import { strictBody } from '../../../core/http/schemas.ts'
import { actorOf, orRefusal, selfServiceOff, tooManyActions } from './self-service.ts'
import { generateSecret } from '../../../core/deliveries/webhooks/secrets.ts'
import { success } from '../../../core/http/response-fields.ts'

const schema = operation({
  operationId: 'setEndpoint',
  tags: ['Endpoint'],
  summary: 'Set the URL of your endpoint',
  description:
    'Stores a candidate for the URL of your endpoint, with a signing secret of its own. Nothing is sent to it yet: configure your receiver with the secret, then call certify-endpoint. Until the candidate takes effect, webhooks go to the current URL. A candidate takes the place of an earlier one.',
  body: strictBody(
    {
      url: z
        .string({ error: requiredOr('must be a string') })
        .describe(
          'In production `https`, on port 443 or 8443, at a public address. No user name, password or fragment.',
        ),
    },
    'url is required',
  ),
  bodyExamples: { url: { url: 'https://lender.example.com/webhooks' } },
  response: z.object({ success, data: endpointWithSecret }),
  responseDescription: 'The candidate is stored.',
  responseExamples: {
    first: {
      success: true,
      data: {
        ...exampleView,
        ...exampleUnusedHealth,
        url: null,
        health: 'paused',
        reason: 'no URL is registered yet',
        candidate: {
          url: 'https://lender.example.com/webhooks',
          state: 'uncertified',
          requested_at: '2026-03-02 09:00:00',
          takes_effect_at: null,
        },
        secret: EXAMPLE_SECRET,
      },
    },
  },
  errors: [invalidRequest({ field: 'url', problem: 'is required' }), selfServiceOff(), tooManyActions()],
})

const invalidUrl = (hint: string) => invalidRequest({ field: 'url', problem: hint, line: `url: ${hint}` })

type Options = Pick<
  SelfServiceRouteDependencies,
  'sql' | 'environment' | 'allowPrivateNetwork' | 'encryptionKeys'
>

/** POST /set-endpoint (extension): stores the URL that a partner wants its webhooks at. */
export const setEndpoint: FastifyPluginAsyncZod<Options> = async (app, options) => {
  const { sql, environment, encryptionKeys } = options
  app.post('/set-endpoint', {
    schema,
    handler: async (request, reply) => {
      const { url } = request.body
      const fault = checkEndpointUrl(url, options)
      if (fault !== null) throw invalidUrl(fault.hint)
      const secret = generateSecret()
      const sealed = sealing(secret, encryptionKeys)
      const actor = actorOf(request, environment)
      await orRefusal(
        reply,
        actOnOwnEndpoint(sql, 'set', actor, async (trx, endpoint, requestedBy) => {
          const change = { kind: 'url', state: 'candidate', url, secret: sealed } as const
          const id = await openChange(trx, endpoint.id, { ...change, requestedBy })
          return { audit: { change_id: id, origin: new URL(url).origin } }
        }),
      )
      const data = await viewOf(sql, request.partnerId)
      return { success: true as const, data: { ...data, secret } }
    },
  })
}
