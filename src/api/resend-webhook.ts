import type { FastifyPluginAsyncZod } from '@fastify/type-provider-zod'
import { findDelivery } from '../db/delivery-resend.ts'
import type { Sql } from '../db/orm.ts'
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
      const { state, lead_id: leadId, sequence } = found
      if (state === 'canceled') throw new ApiError('INVALID_PAYLOAD', 'This webhook was canceled.')
      try {
        await resend({ eventId, leadId, sequence, isOpen: state === 'pending' })
      } catch (err) {
        request.log.warn({ err }, 'resend not started')
        throw new ApiError('SERVICE_UNAVAILABLE', undefined, { 'retry-after': '5' })
      }
      return { success: true as const, message: describe(found) }
    },
  })
}

function describe(found: NonNullable<Awaited<ReturnType<typeof findDelivery>>>): string {
  if (found.endpoint_state === 'paused') {
    return 'The webhook is sent when your endpoint is no longer paused.'
  }
  if (found.state !== 'pending') return 'The webhook is sent once more.'
  if (found.earlier_open > 0) return 'The webhook is sent after the earlier ones of its lead, which are open.'
  return 'The webhook is tried now.'
}
