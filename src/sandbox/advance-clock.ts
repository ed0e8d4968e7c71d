import { randomUUID } from 'node:crypto'
import type { FastifyPluginAsyncZod } from '@fastify/type-provider-zod'
import type { Client } from '@temporalio/client'
import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import {
  advanceClockUpdate,
  CLOCK_MOVING,
  LEAD_CLOSED,
  type ReferralView,
  stateQuery,
} from '../../workflows/messages.ts'
import type { Sql } from '../database/sql.ts'
import { ApiError, invalidRequest, retryLater, unavailable, unknownLead } from '../http/errors.ts'
import { integer, oneOf, ownLeadId, timestamp } from '../http/fields.ts'
import { limitInFlight } from '../http/in-flight.ts'
import { operation } from '../http/operation.ts'
import {
  attemptNumber,
  eitherOr,
  errorCode,
  httpStatus,
  leadStatus,
  ofEvent,
  ofLead,
  refTo,
  strictBody,
  success,
  webhookSequence,
  webhookSequenceOrNone,
} from '../http/schemas.ts'
import { eventName } from '../leads/event-schema.ts'
import { ownsLead } from '../leads/lead.ts'
import { createReferrals, isUnanswered, refusalOf } from '../leads/referrals.ts'
import { isPolling } from '../temporal/away.ts'
import { referralId } from '../temporal/names.ts'
import { MINUTE_MS } from '../values.ts'
import { dueOf, dueView, leadTime } from './get-clock.ts'
import {
  type Advance,
  type AdvanceRequest,
  type ClockStart,
  type ClockTarget,
  clockStops,
  furthestOf,
  type Happened,
  isBusy,
  type LeadClock,
  MOST_ADVANCES,
  MOST_DAYS,
  MOST_YEARS,
  targetOf,
} from './lead-clock.ts'
import { clockStart, happenedSince, readLeadClock } from './lead-time.ts'

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

function happenedOf(happened: Happened): z.output<typeof happenedView> {
  const at = leadTime(happened.at)
  if (happened.what === 'end') return { at, what: 'end' }
  const { eventId, eventName: name, sequence } = happened
  const ofIt = { at, event_id: eventId, event_name: name }
  if (happened.what === 'event') return { what: 'event', ...ofIt, sequence }
  const { attempt, status, errorCode: error_code } = happened
  return { what: 'webhook', ...ofIt, sequence: happened.sequence, attempt, status, error_code }
}

const clockMoving = () =>
  new ApiError(
    'CLOCK_MOVING',
    'The lead’s clock is moving. Repeat the request to wait for its end; get-clock shows where the clock is.',
  )

/** Its webhooks that wait are tried in real time. */
const clockEnded = () =>
  new ApiError(
    'LEAD_CLOSED',
    'The lead is closed: its clock no longer moves. To have a webhook that waits tried now, call resend-webhook.',
  )

const tooManyClocks = () =>
  retryLater('RATE_LIMITED', `Clocks of ${MOST_ADVANCES} of your leads are already moving.`, 1)

const example = { at: '2026-04-23 10:30:00', event_id: 'evt_0195550a-6b8a-7c31-9d2e-3f4a5b6c7d8e' }
const exampleEvent = { ...example, event_name: 'score_update', sequence: 4 }

const schema = operation({
  operationId: 'advanceClock',
  tags: ['Sandbox'],
  summary: 'Advance a lead’s clock',
  description: `Moves the clock of one lead forward. Whatever falls due on the way happens in order, each at its own date: score updates, the lead’s end, and the retries of a failing webhook. Other leads are not affected. The response comes when all of it has happened, or after ten seconds as 409 \`CLOCK_MOVING\`: the rest continues on its own, get-clock shows where it is, and the same request within a minute waits for it. A clock can be at most ${MOST_YEARS} years ahead, and the clocks of ${MOST_ADVANCES} of your leads can move at a time. If nothing of the kind that \`to\` names is due, the clock stays where it is.`,
  body,
  bodyExamples: {
    'a year': { lead_id: 1042, days: 365 },
    'until the next score update': { lead_id: 1042, to: 'next_score_update' },
  },
  response: z.object({
    success,
    data: z
      .object({
        lead_id: ofLead,
        now: timestamp.describe('The lead’s time.'),
        status: leadStatus,
        happened: z.array(happenedView).describe('What happened on the way, in the lead’s time.'),
        stopped: z
          .literal('endpoint_would_pause')
          .optional()
          .describe(
            'The clock stopped early: in production, your endpoint would be paused now. Repair it, or advance again to go on.',
          ),
        next: dueView,
      })
      .meta({ id: 'ClockAdvance' }),
  }),
  responseDescription: 'The clock was advanced.',
  responseExamples: {
    advanced: {
      success: true,
      data: {
        lead_id: 1042,
        now: '2026-04-23 10:30:01',
        status: 'score_update',
        happened: [
          { what: 'event', ...exampleEvent },
          { what: 'webhook', ...exampleEvent, attempt: 1, status: 200, error_code: null },
        ],
        next: { what: 'score_update', at: '2026-06-07 10:30:00' },
      },
    },
  },
  errors: [
    invalidRequest({ field: 'days', problem: `must be at most ${MOST_DAYS}` }),
    unknownLead(),
    clockEnded(),
    clockMoving(),
    tooManyClocks(),
  ],
})

/** POST /sandbox/advance-clock: what months bring, now. */
export const advanceClock: FastifyPluginAsyncZod<{ sql: Sql; clocks: Clocks }> = async (
  app,
  { sql, clocks },
) => {
  const limitRequests = limitInFlight(MOST_ADVANCES, tooManyClocks)
  app.post('/sandbox/advance-clock', {
    schema,
    handler: async (request, reply) => {
      const { partnerId } = request
      const { lead_id: lead, days = 0, to } = request.body
      request.leadId = lead
      if (!(await ownsLead(sql, partnerId, lead))) throw unknownLead()
      limitRequests(partnerId, reply)
      const target = to === undefined ? { days } : { to }
      const advanced = await clocks.advance(lead, target).catch((err: unknown) => {
        if (err instanceof ApiError) throw err
        request.log.warn({ err }, 'clock not advanced')
        throw unavailable()
      })
      const { clock, happened, stopped } = advanced
      // erased meanwhile
      if (clock.isClosed && !(await ownsLead(sql, partnerId, lead))) throw unknownLead()
      const data = {
        lead_id: lead,
        now: leadTime(clock.now),
        status: clock.status,
        happened: happened.map(happenedOf),
        ...(stopped && { stopped }),
        next: dueOf(clock),
      }
      return { success: true as const, data }
    },
  })
}

/** How long a response waits for the clock. */
const WAIT_MS = 10_000
const LOOK_MS = 2000

export interface Clocks {
  /**
   * Moves a lead's clock and waits for it. The same request within a minute joins one that moves it still.
   *
   * @throws {ApiError} why it is not moved, or CLOCK_MOVING after ten seconds: then it goes on by itself.
   */
  advance(leadId: number, to: ClockTarget): Promise<Advance & { clock: LeadClock }>
  isMoving(leadId: number): Promise<boolean>
}

interface Move {
  /** Of the update of the lead's workflow. */
  id: string
  request: AdvanceRequest & { since: ClockStart }
}

/** The one way in which leads' clocks are moved: sandbox only. */
export function createClocks({ client, sql }: { client: Client; sql: Sql }): Clocks {
  const referrals = createReferrals({ client, sql, callLimitMs: WAIT_MS })
  /** Those that may not be over: a repeat sends the same update. */
  const begun = new LRUCache<string, Promise<Move | undefined>>({ max: 1000, ttl: MINUTE_MS })

  async function begin(leadId: number, to: ClockTarget): Promise<Move | undefined> {
    const clock = await clockOf(leadId)
    if (clock.isClosed) throw clockEnded()
    const isBehind = 'to' in to && to.to === 'next_retry' && isBusy(clock)
    // what is due now may make a retry due
    const target = isBehind ? 'next_retry' : targetOf(clock, to)
    if (target === undefined) return undefined
    const isTooFar = target !== 'next_retry' && target > furthestOf(clock)
    if (isTooFar) throw invalidRequest({ problem: `a clock can be at most ${MOST_YEARS} years ahead` })
    return { id: randomUUID(), request: { target, since: await clockStart(sql, leadId) } }
  }

  async function clockOf(leadId: number): Promise<LeadClock> {
    const clock = await readLeadClock(sql, leadId)
    if (clock === undefined) throw unknownLead()
    return clock
  }

  return {
    async advance(leadId, to) {
      const key = `${leadId} ${JSON.stringify(to)}`
      const beginning = begun.get(key) ?? begin(leadId, to)
      begun.set(key, beginning)
      const move = await beginning.catch((error: unknown) => {
        begun.delete(key)
        throw error
      })
      if (move === undefined) {
        begun.delete(key)
        return { happened: [], clock: await clockOf(leadId) }
      }
      try {
        const advanced = await referrals.update(leadId, advanceClockUpdate, [move.request], move.id)
        begun.delete(key)
        const clock = await clockOf(leadId)
        // it was closed on the way, and this is a repeat
        return {
          clock,
          ...(advanced ?? (await happenedSince(sql, leadId, move.request.since, clock.offsetSeconds))),
        }
      } catch (error) {
        const isMoving = isUnanswered(error) && (await isPolling(client).catch(() => false))
        if (!isMoving) begun.delete(key)
        if (isMoving || refusalOf(error) === CLOCK_MOVING) throw clockMoving()
        if (refusalOf(error) === LEAD_CLOSED) throw clockEnded()
        throw error
      }
    },

    /** Not while Temporal is away, or has no worker. */
    async isMoving(leadId) {
      const ask = async () => client.workflow.getHandle(referralId(leadId)).query<ReferralView>(stateQuery)
      const view = await client.withDeadline(Date.now() + LOOK_MS, ask).catch(() => undefined)
      return view?.moving === true
    },
  }
}
