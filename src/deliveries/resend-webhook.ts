import type { FastifyPluginAsyncZod } from '@fastify/type-provider-zod'
import { sql as raw } from 'kysely'
import type { Sql } from '../database/sql.ts'
import type { RouteDependencies } from '../http/dependencies.ts'
import { type ApiError, invalidPayload, invalidRequest, retryLater, unavailable } from '../http/errors.ts'
import { eventId as ofEvent } from '../http/fields.ts'
import { operation } from '../http/operation.ts'
import { messageResponse, strictBody } from '../http/schemas.ts'
import { MOST_ATTEMPTS, MOST_RESENDS, REQUEST_LIMIT_MS } from './delivery-states.ts'
import { waitsFor } from './delivery.ts'
import { unknownEvent, unsentEvent } from './list-deliveries.ts'

/** What a resend needs to know of a delivery; `undefined` if there is none, or its lead is erased. */
export async function findDelivery(sql: Sql, eventId: string) {
  return sql
    .selectFrom('deliveries')
    .innerJoin('leads', 'leads.id', 'deliveries.lead_id')
    .innerJoin('endpoints', 'endpoints.partner_id', 'deliveries.partner_id')
    .select(['deliveries.event_id', 'deliveries.lead_id', 'deliveries.partner_id', 'deliveries.sequence'])
    .select('deliveries.state')
    .select(['deliveries.settled_at', 'endpoints.state as endpoint_state'])
    .select(waitsFor.as('waits_for'))
    .select((eb) =>
      eb
        .selectFrom('lead_events')
        .select('event_name')
        .whereRef('id', '=', 'deliveries.event_id')
        .as('event_name'),
    )
    .select((eb) =>
      eb
        .selectFrom('attempts')
        .select('number')
        .whereRef('attempts.event_id', '=', 'deliveries.event_id')
        .orderBy('number', 'desc')
        .limit(1)
        .as('attempts'),
    )
    .where('deliveries.event_id', '=', eventId)
    .where('leads.erased_at', 'is', null)
    .executeTakeFirst()
}

/**
 * Asks for an attempt at an open delivery now, beside its schedule: see `decideAttempt`.
 */
export async function requestAttempt(sql: Sql, leadId: number, sequence: number): Promise<void> {
  await sql
    .updateTable('deliveries')
    .set({ resend_requested_at: raw<Date>`coalesce(resend_requested_at, clock_timestamp())` })
    .where('lead_id', '=', leadId)
    .where('sequence', '=', sequence)
    .where('state', '=', 'pending')
    .execute()
}

/** Whether it is an event of the partner that is not sent as a webhook. */
export async function isUnsent(sql: Sql, partnerId: number, eventId: string): Promise<boolean> {
  const row = await sql
    .selectFrom('lead_events')
    .leftJoin('deliveries', 'deliveries.event_id', 'lead_events.id')
    .select('lead_events.id')
    .where('lead_events.id', '=', eventId)
    .where('lead_events.partner_id', '=', partnerId)
    .where('deliveries.event_id', 'is', null)
    .executeTakeFirst()
  return row !== undefined
}

/** The latest resend, except interrupted ones: they are made again. */
export async function latestResend(sql: Sql, eventId: string) {
  return sql
    .selectFrom('attempts')
    .select(['number', 'finished_at', 'error_code'])
    .where('event_id', '=', eventId)
    .where('trigger', '=', 'resend')
    .where('error_code', 'is distinct from', 'interrupted')
    .orderBy('number', 'desc')
    .executeTakeFirst()
}

type Options = Pick<RouteDependencies, 'sql' | 'resendWebhook'>

/** The next attempt ends within its time limit and makes room; while the endpoint is paused, none is made. */
const ROOM_SECONDS = REQUEST_LIMIT_MS / 1000
const PAUSED_SECONDS = 60
const most = MOST_RESENDS.toLocaleString('en')
/** Why the webhook of an event is not resent. */
const refusals = {
  canceled: 'This webhook was canceled and cannot be sent.',
  tooOften: `This webhook was attempted ${MOST_ATTEMPTS.toLocaleString('en')} times and cannot be resent.`,
}

function refused(why: keyof typeof refusals): ApiError {
  const problem = `${refusals[why]} get-events has its event.`
  return invalidPayload(problem, [{ field: 'event_id', problem }])
}

const schema = operation({
  operationId: 'resendWebhook',
  tags: ['Deliveries'],
  summary: 'Resend a webhook',
  description: `An open delivery is attempted now, after the lead’s earlier webhooks; if that fails, its next automatic attempt stays when it was. A settled one is sent again with the same \`webhook-id\` and the header \`webhook-replay: true\`. Resends are sent one at a time, at most five a second; up to ${most} can wait. Requesting a resend that already waits changes nothing. Resends wait while your endpoint is paused. If ${most} already wait, the response is 429 with \`Retry-After\` ${ROOM_SECONDS}, the time limit of an attempt, or ${PAUSED_SECONDS} while your endpoint is paused.`,
  body: strictBody(
    {
      event_id: ofEvent.describe('As get-deliveries shows it; the `webhook-id` of the webhook.'),
    },
    'event_id is required',
  ),
  bodyExamples: { event: { event_id: 'evt_0195550a-6b8a-7c31-9d2e-3f4a5b6c7d8e' } },
  response: messageResponse,
  responseDescription: 'The webhook will be sent. get-deliveries shows its attempt.',
  responseExamples: { sent: { success: true, message: 'The webhook will be sent again.' } },
  errors: [invalidRequest({ field: 'event_id', problem: 'is required' }), unknownEvent(), tooManyResends()],
})

/** POST /resend-webhook (extension): attempts an open webhook now, or sends a settled one again. */
export const resendWebhook: FastifyPluginAsyncZod<Options> = async (app, { sql, resendWebhook: resend }) => {
  app.post('/resend-webhook', {
    schema,
    handler: async (request) => {
      const { partnerId } = request
      const { event_id: eventId } = request.body
      const found = await findDelivery(sql, eventId)
      // another partner's event looks like one that does not exist
      if (found?.partner_id !== partnerId) {
        const isKnown = await isUnsent(sql, partnerId, eventId)
        throw isKnown ? unsentEvent() : unknownEvent()
      }
      const { state, lead_id: leadId } = found
      request.leadId = leadId
      if (state === 'canceled') throw refused('canceled')
      if ((found.attempts ?? 0) >= MOST_ATTEMPTS) throw refused('tooOften')
      const outcome = await resend(found).catch((err: unknown) => {
        request.log.warn({ err }, 'resend not started')
        throw unavailable()
      })
      if (outcome === 'too_many') throw tooManyResends(found.endpoint_state === 'paused')
      return { success: true as const, message: describe(found) }
    },
  })
}

function tooManyResends(isPaused = false): ApiError {
  const why = isPaused
    ? 'None is sent while your endpoint is paused: resume it first.'
    : 'They are sent one at a time, at most five a second.'
  return retryLater(
    'RATE_LIMITED',
    `${most} of your webhooks are already waiting to be resent, which is the maximum. ${why}`,
    isPaused ? PAUSED_SECONDS : ROOM_SECONDS,
  )
}

function describe(found: NonNullable<Awaited<ReturnType<typeof findDelivery>>>): string {
  if (found.endpoint_state === 'paused') {
    return 'The webhook will be sent when your endpoint is no longer paused.'
  }
  if (found.state !== 'pending') return 'The webhook will be sent again.'
  const { waits_for: first } = found
  if (first !== null)
    return `The webhook waits for ${first.event_id} (sequence ${first.sequence}) of the same lead. Resend that one.`
  return 'The webhook is being sent now.'
}

/** Whether webhooks of a partner failed and wait for their next attempt. */
export async function hasRetries(sql: Sql, partnerId: number): Promise<boolean> {
  const found = await sql
    .selectFrom('deliveries')
    .innerJoin('endpoints', 'endpoints.partner_id', 'deliveries.partner_id')
    .select('event_id')
    .where('deliveries.partner_id', '=', partnerId)
    .where('deliveries.state', '=', 'pending')
    .whereRef('deliveries.round', '=', 'endpoints.round')
    .where('next_attempt_at', '>', raw<Date>`clock_timestamp()`)
    .limit(1)
    .executeTakeFirst()
  return found !== undefined
}
