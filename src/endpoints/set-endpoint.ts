import type { FastifyPluginAsyncZod } from '@fastify/type-provider-zod'
import { z } from 'zod'
import { setCandidate } from './switch-endpoint.ts'
import { secretPlace } from './secrets.ts'
import { checkEndpointUrl } from '../webhooks/endpoint-url.ts'
import { endpointWithSecret, exampleUnusedHealth, exampleView } from './endpoint-view.ts'
import { selfServiceOff, type SelfServiceRouteDependencies } from './own-endpoint.ts'
import { ApiError, invalidRequest } from '../http/errors.ts'
import { keyedOperation } from '../http/idempotency.ts'
import { operation } from '../http/operation.ts'
import { EXAMPLE_SECRET, strictBody, success } from '../http/schemas.ts'
import { answerWithNewSecret } from './rotate-endpoint-secret.ts'

const schema = operation({
  operationId: 'setEndpoint',
  tags: ['Endpoint'],
  summary: 'Set the URL of your endpoint',
  description:
    'Stores a candidate for the URL of your endpoint, with a signing secret of its own. Nothing is sent to it yet: configure your receiver with the secret, then call certify-endpoint. Until it has passed, webhooks go to the current URL. A candidate takes the place of an earlier one. If you repeat a request with the same `Idempotency-Key` within 24 hours, you get the same response, with the same secret.',
  ...keyedOperation,
  body: strictBody(
    {
      url: z
        .string('must be a string')
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
          requested_at: '2026-03-02 09:00:00',
        },
        secret: EXAMPLE_SECRET,
      },
    },
  },
  errors: [
    invalidRequest({ field: 'url', problem: 'must be a string' }),
    selfServiceOff(),
    new ApiError('SECRET_REPLACED'),
    new ApiError('IDEMPOTENCY_CONFLICT'),
  ],
})

const invalidUrl = (hint: string) => invalidRequest({ field: 'url', problem: hint, line: `url: ${hint}` })

type Options = Pick<
  SelfServiceRouteDependencies,
  'sql' | 'environment' | 'allowPrivateNetwork' | 'encryptionKeys'
>

/** POST /set-endpoint (extension): stores the URL that a partner wants its webhooks at. */
export const setEndpoint: FastifyPluginAsyncZod<Options> = async (app, options) => {
  app.post('/set-endpoint', {
    schema,
    handler: async (request, reply) => {
      const { url } = request.body
      const fault = checkEndpointUrl(url, options)
      if (fault !== null) throw invalidUrl(fault.hint)
      return answerWithNewSecret(options, 'set-endpoint', [request, reply], async (trx, made) => {
        const candidate = await setCandidate(trx, made.endpoint.id, { url, secret: made.secret })
        return { place: secretPlace(candidate), audit: { candidate, origin: new URL(url).origin } }
      })
    },
  })
}
