import type { FastifyPluginAsyncZod } from '@fastify/type-provider-zod'
import type { RouteDependencies } from '../http/dependencies.ts'
import { invalidPayload, invalidRequest, retryLater, unavailable } from '../http/errors.ts'
import { eventId as ofEvent } from '../http/fields.ts'
import { operation } from '../http/operation.ts'
import { messageResponse, strictBody } from '../http/schemas.ts'
import { MOST_RESENDS, REQUEST_LIMIT_MS } from './delivery-states.ts'
import { describeResend, requireWebhook, type Resender, unknownEvent, unsentEvent } from './resends.ts'

export interface ResendDependencies extends Pick<RouteDependencies, 'sql'> {
  resendWebhook: Resender['resend']
}

/** The next attempt ends within its time limit and makes room. */
const ROOM_SECONDS = REQUEST_LIMIT_MS / 1000
const most = MOST_RESENDS.toLocaleString('en')

const CANCELED = 'This webhook was canceled and cannot be sent. get-events has its event.'
const canceled = () => invalidPayload(CANCELED, [{ field: 'event_id', problem: CANCELED }])
const tooManyResends = () =>
  retryLater('RATE_LIMITED', `${most} of your webhooks are already waiting to be resent.`, ROOM_SECONDS)

const schema = operation({
  operationId: 'resendWebhook',
  tags: ['Deliveries'],
  summary: 'Resend a webhook',
  description: `An open delivery is attempted now, after the lead’s earlier webhooks; if that fails, its retry schedule is unchanged. A settled one is sent again with the same \`webhook-id\` and the header \`webhook-replay: true\`, unless it was canceled. Resends are sent one at a time, at most five a second, and none while your endpoint is paused; up to ${most} can wait. Requesting a resend that already waits changes nothing.`,
  body: strictBody(
    { event_id: ofEvent.describe('As get-deliveries shows it; the `webhook-id` of the webhook.') },
    'event_id is required',
  ),
  bodyExamples: { event: { event_id: 'evt_0195550a-6b8a-7c31-9d2e-3f4a5b6c7d8e' } },
  response: messageResponse,
  responseDescription: 'The webhook will be sent. get-deliveries shows its attempt.',
  responseExamples: { sent: { success: true, message: 'The webhook will be sent again.' } },
  errors: [
    invalidRequest({ field: 'event_id', problem: 'is required' }),
    unsentEvent(),
    unknownEvent(),
    tooManyResends(),
  ],
})

/** POST /resend-webhook (extension): attempts an open webhook now, or sends a settled one again. */
export const resendWebhook: FastifyPluginAsyncZod<ResendDependencies> = async (
  app,
  { sql, resendWebhook: resend },
) => {
  app.post('/resend-webhook', {
    schema,
    handler: async (request) => {
      const found = await requireWebhook(sql, request.partnerId, request.body.event_id)
      if (found.state === 'canceled') throw canceled()
      request.leadId = found.lead_id
      const outcome = await resend(found).catch((err: unknown) => {
        request.log.warn({ err }, 'resend not started')
        throw unavailable()
      })
      if (outcome === 'too_many') throw tooManyResends()
      return { success: true as const, message: describeResend(found) }
    },
  })
}
