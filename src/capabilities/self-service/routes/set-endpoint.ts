import type { FastifyPluginAsyncZod } from '@fastify/type-provider-zod'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { changePlace, openChange } from '../../../core/endpoints/statements/changes.ts'
import { checkEndpointUrl } from '../../../core/deliveries/webhooks/endpoint-url.ts'
import { exampleUnusedHealth } from './endpoint-health.ts'
import type { SelfServiceRouteDependencies } from './dependencies.ts'
import { type EndpointView, endpointWithSecret, exampleView, viewOf } from './endpoint-view.ts'
import { ApiError, invalidRequest } from '../../../core/http/errors.ts'
import { answerOnce, keyedOperation } from '../../../core/idempotency/routes/idempotency-key.ts'
import { setNotifications } from '../../../core/endpoints/statements/notifications.ts'
import { type Notification, notifications } from '../../../core/leads/decisions/closed-webhook.ts'
import { actOnOwnEndpoint } from '../statements/self-service.ts'
import { oneOf } from '../../../core/http/fields.ts'
import { EXAMPLE_SECRET } from '../../../core/http/openapi/example-secret.ts'
import { operation } from '../../../core/http/openapi/operation.ts'
import { strictBody } from '../../../core/http/schemas.ts'
import { answerWithNewSecret } from './new-secret.ts'
import { actorOf, orRefusal, selfServiceOff } from './self-service.ts'
import { success } from '../../../core/http/response-fields.ts'

/** Without a new URL there is no new secret. */
const endpointAfterSetting = endpointWithSecret.partial({ secret: true }).meta({ id: 'EndpointAfterSetting' })

const nothingToSet = () => invalidRequest({ field: 'url', problem: 'is required, unless you send notify' })

const schema = operation({
  operationId: 'setEndpoint',
  client: { call: 'endpoint.set', result: 'endpoint', prints: ['secret'] },
  tags: ['Endpoint'],
  summary: 'Set the URL of your endpoint',
  description:
    'Stores a candidate for the URL of your endpoint, with a signing secret of its own. Nothing is sent to it yet: configure your receiver with the secret, then call certify-endpoint. Until the candidate takes effect, webhooks go to the current URL. A candidate takes the place of an earlier one. `notify` says what you get webhooks about beside milestones, and takes effect at once. Send either of the two or both: what you leave out stays as it is. If you repeat a request with the same `Idempotency-Key` within 24 hours, you get the same response, with the same secret.',
  ...keyedOperation,
  body: strictBody(
    {
      url: z
        .string('must be a string')
        .optional()
        .describe(
          'Required without `notify`. In production `https`, on port 443 or 8443, at a public address. No user name, password or fragment.',
        ),
      notify: z
        .array(z.enum(notifications, { error: oneOf(notifications) }), { error: 'must be a list' })
        .refine((names) => new Set(names).size === names.length, 'must name each once at most')
        .optional()
        .describe('An empty list turns all of them off. Absent, it stays as it is; at first it is empty.'),
    },
    'url is required',
  ),
  bodyExamples: {
    url: { url: 'https://lender.example.com/webhooks' },
    'what to be told of': { notify: ['lead.closed'] },
  },
  response: z.object({ success, data: endpointAfterSetting }),
  responseDescription: 'The candidate is stored, and what you are told of.',
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
      const { url, notify } = request.body
      if (url === undefined) {
        if (notify === undefined) throw nothingToSet()
        return answerWithNotify(options, [request, reply], notify)
      }
      const fault = checkEndpointUrl(url, options)
      if (fault !== null) throw invalidUrl(fault.hint)
      return answerWithNewSecret(options, 'set-endpoint', [request, reply], async (trx, made) => {
        const { endpoint, secret, requestedBy } = made
        if (notify !== undefined) await setNotifications(trx, request.partnerId, notify)
        const change = { kind: 'url', state: 'candidate', url, secret, requestedBy } as const
        const id = await openChange(trx, endpoint.id, change)
        const audit = { change_id: id, origin: new URL(url).origin, ...(notify && { notify }) }
        return { place: changePlace(id), audit }
      })
    },
  })
}

/** What needs no new secret. */
async function answerWithNotify(
  { sql, environment }: Options,
  [request, reply]: readonly [FastifyRequest, FastifyReply],
  notify: readonly Notification[],
) {
  const { partnerId } = request
  const { answer } = await answerOnce<EndpointView>(
    sql,
    'set-endpoint',
    [request, reply],
    async (its, keep) => {
      const acting = actOnOwnEndpoint(its, 'notify', actorOf(request, environment), async (trx) => {
        const isChanged = await setNotifications(trx, partnerId, notify)
        const view = await viewOf(trx, partnerId)
        await keep(view)
        return { view, audit: isChanged ? { notify } : null }
      })
      return (await orRefusal(acting)).view
    },
  )
  return { success: true as const, data: answer }
}
