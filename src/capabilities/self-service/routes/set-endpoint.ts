import type { FastifyPluginAsyncZod } from '@fastify/type-provider-zod'
import { z } from 'zod'
import { setNotifications } from '../../../core/endpoints/statements/notifications.ts'
import { notifications } from '../../../core/leads/decisions/closed-webhook.ts'
import { openChange } from '../../../core/endpoints/statements/changes.ts'
import { actOnOwnEndpoint } from '../statements/self-service.ts'
import { sealing } from '../../../core/sealing/seal.ts'
import { checkEndpointUrl } from '../../../core/deliveries/webhooks/endpoint-url.ts'
import { exampleUnusedHealth } from './endpoint-health.ts'
import type { SelfServiceRouteDependencies } from './dependencies.ts'
import { endpointWithSecret, exampleView, viewOf } from './endpoint-view.ts'
import { invalidPayload } from '../../../core/http/errors.ts'
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
    'Stores a candidate for the URL of your endpoint, with a signing secret of its own. Nothing is sent to it yet: configure your receiver with the secret, then call certify-endpoint. Until the candidate takes effect, webhooks go to the current URL. A candidate takes the place of an earlier one. `notify` says what you get webhooks about beside milestones, and takes effect at once. Send either of the two or both: what you leave out stays as it is.',
  body: strictBody(
    {
      url: z
        .string('must be a string')
        .optional()
        .describe(
          'Required without `notify`. In production `https`, on port 443 or 8443, at a public address. No user name, password or fragment.',
        ),
      notify: z
        .array(z.enum(notifications, { error: `must each be one of ${notifications.join(', ')}` }), {
          error: 'must be a list',
        })
        .max(notifications.length, `must name each of ${notifications.join(', ')} once at most`)
        .optional()
        .describe('An empty list turns all of them off. Absent, it stays as it is; at first it is empty.'),
    },
    'url is required',
  ),
  bodyExamples: {
    url: { url: 'https://lender.example.com/webhooks' },
    'what to be told of': { notify: ['lead.closed'] },
  },
  response: z.object({ success, data: endpointWithSecret.partial({ secret: true }) }),
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
  errors: [invalidPayload('Invalid request: url must be a string.'), selfServiceOff(), tooManyActions()],
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
    handler: async (request) => {
      const { url, notify } = request.body
      const { partnerId } = request
      const actor = actorOf(request, environment)
      if (url === undefined) {
        if (notify === undefined)
          throw invalidPayload('Invalid request: url is required, unless you send notify.')
        await orRefusal(
          actOnOwnEndpoint(sql, 'notify', actor, async (trx) => ({
            audit: (await setNotifications(trx, partnerId, notify)) ? { notify } : null,
          })),
        )
        return { success: true as const, data: await viewOf(sql, partnerId) }
      }
      const fault = checkEndpointUrl(url, options)
      if (fault !== null) throw invalidPayload(`Invalid request: url: ${fault.hint}.`)
      const secret = generateSecret()
      const sealed = sealing(secret, encryptionKeys)
      await orRefusal(
        actOnOwnEndpoint(sql, 'set', actor, async (trx, endpoint, requestedBy) => {
          if (notify !== undefined) await setNotifications(trx, partnerId, notify)
          const change = { kind: 'url', state: 'candidate', url, secret: sealed } as const
          const id = await openChange(trx, endpoint.id, { ...change, requestedBy })
          return { audit: { change_id: id, origin: new URL(url).origin, ...(notify && { notify }) } }
        }),
      )
      const data = await viewOf(sql, partnerId)
      return { success: true as const, data: { ...data, secret } }
    },
  })
}
