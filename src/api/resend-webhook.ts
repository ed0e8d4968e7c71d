import type { FastifyPluginAsyncZod } from '@fastify/type-provider-zod'
import { findDelivery } from '../db/deliveries/resend.ts'
import type { Sql } from '../db/orm.ts'
import { MOST_RESENDS } from '../db/deliveries/resends.ts'
import { ApiError } from '../errors.ts'
import type { ResendWebhook } from '../temporal/resend.ts'
import { resendWebhookBody } from './extension-schemas.ts'
import { messageAnswer } from './schemas.ts'

interface Options {
  sql: Sql
  resendWebhook: ResendWebhook
}

/** POST /resend-webhook (extension): an open webhook is tried now, a settled one is sent once more. */
export const resendWebhook: FastifyPluginAsyncZod<Options> = async (app, { sql, resendWebhook: resend }) => {
  app.post('/resend-webhook', {
    schema: { body: resendWebhookBody, response: { 200: messageAnswer } },
    handler: async (request) => {
      const { event_id: eventId } = request.body
      // no id of ours has a NUL, which PostgreSQL refuses
      const found = eventId.includes('\0') ? undefined : await findDelivery(sql, eventId)
      // another partner's event is as unknown as one that never was
      if (found?.partner_id !== request.partnerId) throw new ApiError('NOT_FOUND', 'Event not found.')
      request.leadId = found.lead_id
      const { state, lead_id: leadId } = found
      if (state === 'canceled') throw new ApiError('INVALID_PAYLOAD', 'This webhook was canceled.')
      const { partnerId } = request
      const outcome = await resend({ eventId, leadId, partnerId, isOpen: state === 'pending' }).catch(
        (err: unknown) => {
          request.log.warn({ err }, 'resend not started')
          throw new ApiError('SERVICE_UNAVAILABLE', undefined, { 'retry-after': '5' })
        },
      )
      if (outcome === 'too_many') throw tooManyResends(found.endpoint_state === 'paused')
      return { success: true as const, message: describe(found) }
    },
  })
}

type Found = NonNullable<Awaited<ReturnType<typeof findDelivery>>>

/** An attempt takes 15 s at most, and then there is room for one more; while the endpoint is paused there is none. */
const [ROOM_SECONDS, PAUSED_SECONDS] = ['15', '60']

export function tooManyResends(isPaused = false): ApiError {
  const waiting = `${MOST_RESENDS.toLocaleString('en')} of your webhooks wait to be sent once more, which is the most`
  const why = isPaused
    ? 'none is sent while your endpoint is paused. Ask again once it works.'
    : 'they go out one after the other, at most five a second. Ask again as Retry-After says.'
  return new ApiError('RATE_LIMITED', `${waiting}: ${why}`, {
    'retry-after': isPaused ? PAUSED_SECONDS : ROOM_SECONDS,
  })
}

function describe(found: Found): string {
  if (found.endpoint_state === 'paused') {
    return 'The webhook is sent when your endpoint is no longer paused.'
  }
  if (found.state !== 'pending') return 'The webhook is sent once more.'
  if (found.earlier_open > 0) return 'The webhook is sent after the earlier ones of its lead, which are open.'
  return 'The webhook is tried now.'
}
