import { randomUUID } from 'node:crypto'
import type { FastifyPluginAsyncZod } from '@fastify/type-provider-zod'
import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import { advanceClockUpdate } from '../../workflows/messages.ts'
import type { Sql } from '../database/sql.ts'
import { ApiError, invalidRequest, unknownLead } from '../http/errors.ts'
import { integer, oneOf, ownLeadId, timestamp } from '../http/fields.ts'
import { operation } from '../http/operation.ts'
import {
  attemptNumber,
  eitherOr,
  errorCode,
  httpStatus,
  ofEvent,
  refTo,
  strictBody,
  success,
  webhookSequence,
  webhookSequenceOrNone,
  eventName,
} from '../http/schemas.ts'
import type { InHistory } from '../leads/event-payloads.ts'
import { isUnanswered, refusalOf } from '../leads/referrals.ts'
import { requireOwnLead } from '../partners/own-lead.ts'
import { formatTimestamp, MINUTE_MS } from '../values.ts'
import { askLead, type AskingOptions, tooManyAdvances } from './ask-lead.ts'
import { exampleStanding, standing, standingOf } from './get-clock.ts'
import {
  type ClockStand,
  type ClockTarget,
  clockStops,
  earlyStops,
  type LeadClock,
  MOST_ADVANCES,
  MOST_DAYS,
  MOST_YEARS,
} from './lead-clock.ts'
import { clockOf } from './lead-time.ts'

const body = strictBody(
  {
    lead_id: ownLeadId,
    days: integer(1, MOST_DAYS).optional().describe('How many days. Send either `days` or `to`.'),
    to: z
      .enum(clockStops, { error: oneOf(clockStops) })
      .optional()
      .describe(
        'Instead of `days`: until the next score update, the next retry of a webhook that failed, or the end of the lead, 30 days after mortgage_ready.',
      ),
  },
  'lead_id is required',
).refine(({ days, to }) => (days === undefined) !== (to === undefined), eitherOr('days', 'to'))

const event = { at: timestamp, event_id: ofEvent, event_name: eventName }

const happenedView = z
  .discriminatedUnion('what', [
    z
      .object({ what: z.literal('event'), ...event, sequence: webhookSequenceOrNone })
      .meta({ id: 'HappenedEvent', description: 'An event was recorded.' }),
    z
      .object({
        what: z.literal('webhook'),
        ...event,
        sequence: webhookSequence,
        attempt: attemptNumber,
        status: httpStatus,
        error_code: errorCode,
      })
      .meta({ id: 'HappenedWebhook', description: 'Your endpoint was called.' }),
    z
      .object({ what: z.literal('end'), at: timestamp })
      .meta({ id: 'HappenedEnd', description: 'The lead was closed.' }),
  ])
  .meta({
    id: 'Happened',
    discriminator: {
      propertyName: 'what',
      mapping: {
        event: refTo('HappenedEvent'),
        webhook: refTo('HappenedWebhook'),
        end: refTo('HappenedEnd'),
      },
    },
  })

type Happened = z.output<typeof happenedView>

const example = { at: '2026-04-23 10:30:00', event_id: 'evt_0195550a-6b8a-7c31-9d2e-3f4a5b6c7d8e' }
const exampleEvent = { ...example, event_name: 'score_update', sequence: 4 }

const schema = operation({
  operationId: 'advanceClock',
  tags: ['Sandbox'],
  summary: 'Advance a lead’s clock',
  description: `Moves the clock of one lead forward. Whatever falls due on the way happens in order, each at its own date: score updates, the lead’s end, and the retries of a failing webhook. Other leads are not affected. The response comes when all of it has happened, or after ten seconds as 409 \`CLOCK_MOVING\`: the rest continues on its own, get-clock shows where it is, and the same request within a minute waits for it. A clock can be at most ${MOST_YEARS} years ahead, and ${MOST_ADVANCES} of your requests can move clocks at a time. If nothing that \`to\` names is due, the clock does not move.`,
  body,
  bodyExamples: {
    'a year': { lead_id: 1042, days: 365 },
    'until the next score update': { lead_id: 1042, to: 'next_score_update' },
  },
  response: z.object({
    success,
    data: z
      .object({
        ...standing,
        happened: z.array(happenedView).describe('What happened on the way, in the lead’s time.'),
        stopped: z
          .enum(earlyStops)
          .optional()
          .describe(
            `The clock stopped early. \`endpoint_would_pause\`: in production, your endpoint would be paused now; repair it, or advance again to go on. \`twenty_years_ahead\`: it can go no further.`,
          ),
      })
      .meta({ id: 'ClockAdvance' }),
  }),
  responseDescription: 'The clock was advanced.',
  responseExamples: {
    advanced: {
      success: true,
      data: {
        ...exampleStanding,
        happened: [
          { what: 'event', ...exampleEvent },
          { what: 'webhook', ...exampleEvent, attempt: 1, status: 200, error_code: null },
        ],
      },
    },
  },
  errors: [
    invalidRequest({ field: 'days', problem: `must be at most ${MOST_DAYS}` }),
    unknownLead(),
    new ApiError('LEAD_CLOSED'),
    new ApiError('CLOCK_MOVING'),
    tooManyAdvances(),
  ],
})

/** POST /sandbox/advance-clock: moves a lead's clock through all that falls due. */
export const advanceClock: FastifyPluginAsyncZod<AskingOptions> = async (app, options) => {
  const { sql, referrals, isMoving, limitAdvances } = options
  /** The ids of updates that may still run: a repeated request joins its update. */
  const begun = new LRUCache<string, string>({ max: 1000, ttl: MINUTE_MS })

  async function advance(lead: number, target: ClockTarget) {
    const key = JSON.stringify([lead, target])
    const updateId = begun.get(key) ?? randomUUID()
    begun.set(key, updateId)
    try {
      const advanced = await referrals.update(lead, advanceClockUpdate, [target], updateId)
      begun.delete(key)
      return advanced
    } catch (error) {
      if (refusalOf(error) !== undefined) begun.delete(key)
      if (isUnanswered(error) && (await isMoving(lead))) throw new ApiError('CLOCK_MOVING')
      throw error
    }
  }

  app.post('/sandbox/advance-clock', {
    schema,
    handler: async (request, reply) => {
      const { lead_id: lead, days = 0, to } = request.body
      await requireOwnLead(sql, request, lead)
      limitAdvances(request.partnerId, reply)
      const target = to === undefined ? { days } : { to }
      const { stands, stopped } = await askLead(request, 'clock not advanced', () => advance(lead, target))
      const clock = await clockOf(sql, lead)
      const happened = await happenedBetween(sql, clock, stands)
      const data = { ...standingOf(clock), happened, ...(stopped !== null && { stopped }) }
      return { success: true as const, data }
    },
  })
}

/** A lead's events since the first of `stands`, and its attempts that have ended by the last, by the lead's time. */
async function happenedBetween(
  sql: Sql,
  { leadId, closedAt }: LeadClock,
  stands: readonly ClockStand[],
): Promise<Happened[]> {
  const [first] = stands
  if (first === undefined) return []
  const events = await sql
    .selectFrom('lead_events')
    .leftJoin('deliveries', 'deliveries.event_id', 'lead_events.id')
    .select(['lead_events.id as event_id', 'event_name', 'created_at as at', 'sequence'])
    .where('lead_events.lead_id', '=', leadId)
    .where('position', '>', first.position)
    .$narrowType<Pick<InHistory, 'event_name'>>()
    .orderBy('position')
    .execute()
  const attempts = await sql
    .selectFrom('attempts')
    .innerJoin('deliveries', 'deliveries.event_id', 'attempts.event_id')
    .innerJoin('lead_events', 'lead_events.id', 'attempts.event_id')
    .select(['attempts.event_id', 'event_name', 'sequence', 'number as attempt', 'attempts.status'])
    .select(['error_code', 'started_at'])
    .where('deliveries.lead_id', '=', leadId)
    .where('started_at', '>', new Date(first.now - first.offset))
    .where('finished_at', 'is not', null)
    .orderBy('started_at')
    .execute()
  const dates = new Map(events.map(({ event_id: id, at }) => [id, at]))
  const webhooks = attempts.flatMap(({ started_at: startedAt, ...attempt }) => {
    // attempts have real time: the lead's clock was ahead by the offset at its next stop
    const stand = stands.find(({ now, offset }) => startedAt.getTime() <= now - offset)
    if (stand === undefined) return []
    // one that sent its event at once gets that event's date
    const atOnce = attempt.attempt === 1 ? dates.get(attempt.event_id) : undefined
    return {
      what: 'webhook' as const,
      ...attempt,
      at: atOnce ?? new Date(startedAt.getTime() + stand.offset),
    }
  })
  const happened = [
    ...events.map((row) => ({ what: 'event' as const, ...row })),
    ...webhooks,
    ...(closedAt === null ? [] : [{ what: 'end' as const, at: new Date(closedAt) }]),
  ]
  return happened
    .toSorted((one, other) => one.at.getTime() - other.at.getTime())
    .map((each) => ({ ...each, at: formatTimestamp(each.at) }))
}
