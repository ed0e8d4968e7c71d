import type { FastifyPluginAsyncZod } from '@fastify/type-provider-zod'
import { z } from 'zod'
import { changePlace, openChange } from '../../../core/endpoints/statements/changes.ts'
import { actOnOwnEndpoint } from '../statements/self-service.ts'
import { sealing } from '../../../core/sealing/seal.ts'
import { checkEndpointUrl } from '../../../core/deliveries/webhooks/endpoint-url.ts'
import { exampleUnusedHealth } from './endpoint-health.ts'
import type { SelfServiceRouteDependencies } from './dependencies.ts'
import { type EndpointView, endpointWithSecret, exampleView, viewOf } from './endpoint-view.ts'
import { ApiError, invalidPayload } from '../../../core/http/errors.ts'
import { answerOnce, keyedOperation } from '../../../core/idempotency/routes/idempotency-key.ts'
import { requiredOr } from '../../../core/http/fields.ts'
import { EXAMPLE_SECRET } from '../../../core/http/openapi/example-secret.ts'
import { operation } from '../../../core/http/openapi/operation.ts'
import { strictBody } from '../../../core/http/schemas.ts'
import { actorOf, orRefusal, secretAgain, selfServiceOff, tooManyActions } from './self-service.ts'
import { generateSecret } from '../../../core/deliveries/webhooks/secrets.ts'
import { success } from '../../../core/http/response-fields.ts'

const schema = operation({
  operationId: 'setEndpoint',
  tags: ['Endpoint'],
  summary: 'Set the URL of your endpoint',
  description:
    'Stores a candidate for the URL of your endpoint, with a signing secret of its own. Nothing is sent to it yet: configure your receiver with the secret, then call certify-endpoint. Until the candidate takes effect, webhooks go to the current URL. A candidate takes the place of an earlier one. If you repeat a request with the same `Idempotency-Key` within 24 hours, you get the same response, with the same secret.',
  ...keyedOperation,
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
  errors: [
    invalidPayload('Invalid request: url is required.'),
    selfServiceOff(),
    new ApiError('SECRET_REPLACED'),
    new ApiError('IDEMPOTENCY_CONFLICT'),
    tooManyActions(),
  ],
})

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
      if (fault !== null) throw invalidPayload(`Invalid request: url: ${fault.hint}.`)
      const secret = generateSecret()
      const sealed = sealing(secret, encryptionKeys)
      const actor = actorOf(request, environment)
      const given = await answerOnce<EndpointView>(
        sql,
        'set-endpoint',
        [request, reply],
        async (its, keep) => {
          const { view } = await orRefusal(
            actOnOwnEndpoint(its, 'set', actor, async (trx, endpoint, requestedBy) => {
              const change = { kind: 'url', state: 'candidate', url, secret: sealed } as const
              const id = await openChange(trx, endpoint.id, { ...change, requestedBy })
              const view = await viewOf(trx, request.partnerId)
              await keep(view, changePlace(id))
              return { view, audit: { change_id: id, origin: new URL(url).origin } }
            }),
          )
          return view
        },
      )
      const own = given.kind === 'made' ? secret : await secretAgain(options, given.secretAt)
      return { success: true as const, data: { ...given.answer, secret: own } }
    },
  })
}
