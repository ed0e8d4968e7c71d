import { createHash, randomUUID } from 'node:crypto'
import type { FastifyPluginAsyncZod } from '@fastify/type-provider-zod'
import { z } from 'zod'
import type { Sql } from '../database/sql.ts'
import { ApiError, invalidRequest, retryLater, unavailable, unknownLead } from '../http/errors.ts'
import { integer, oneOf, ownLeadId } from '../http/fields.ts'
import { idempotencyKeyOf, idempotencyParameter } from '../http/idempotency.ts'
import { limitInFlight } from '../http/in-flight.ts'
import { operation } from '../http/operation.ts'
import {
  eitherOr,
  leadStatus,
  ofEvent,
  ofLead,
  refTo,
  strictBody,
  success,
  webhookSequenceOrNone,
} from '../http/schemas.ts'
import {
  neededGains,
  parseScoreGains,
  type ScoreGains,
  takesPayload,
  unknownGains,
} from '../leads/event-payloads.ts'
import { eventSchema, eventShape, simulatedKinds } from '../leads/event-schema.ts'
import { type MilestoneName, signalledMilestones } from '../leads/milestones.ts'
import { ownsLead } from '../leads/lead.ts'
import { findRecorded } from '../leads/lead-event.ts'
import type { Referrals } from '../leads/referrals.ts'
import { MOST_SIMULATED } from '../leads/referral-state.ts'
import { DAY_MS, formatTimestamp } from '../values.ts'
import { dueOf, dueView } from './get-clock.ts'
import { readLeadClock } from './lead-time.ts'

/** How many requests of a partner may wait at a time. */
const MOST_REQUESTS = 20
/** The longest that a milestone is known late. */
const MOST_DAYS_AGO = 730

const shape = {
  event_name: z
    .enum(signalledMilestones, { error: oneOf(signalledMilestones) })
    .meta({ id: 'SimulatedEventName' }),
  // anything at first: what it must be depends on the milestone
  event_payload: z
    .custom<ScoreGains | null>()
    .optional()
    .meta({
      anyOf: [{ $ref: refTo('ScoreGains'), unevaluatedProperties: false }, { type: 'null' }],
      description: 'For `score_update` only. Without it, the sandbox makes up gains.',
    }),
  days_ago: integer(0, MOST_DAYS_AGO)
    .optional()
    .describe(
      'Backdates the milestone: how many days ago it happened, on the lead’s clock. Dates of a lead never go back: a milestone that would be older than the lead’s last event gets the date of that.',
    ),
}

interface Sent {
  event_name?: MilestoneName | undefined
  event_payload?: unknown
}

/** Only a score update has a payload of its own, which has the fields of gains and no others. */
function refusePayload({ event_name: name, event_payload: payload }: Sent, context: z.RefinementCtx): void {
  if (payload === undefined || payload === null || name === undefined) return
  const refuse = (message: string) => context.addIssue({ code: 'custom', path: ['event_payload'], message })
  if (!takesPayload(name))
    return refuse(`must be absent: of these milestones, only score_update has a payload, not ${name}`)
  if (typeof payload !== 'object') return refuse('must be an object')
  for (const { field, form } of neededGains(payload))
    context.addIssue({ code: 'custom', path: ['event_payload', field], message: `must be ${form}` })
  const keys = unknownGains(payload)
  if (keys.length > 0)
    context.addIssue({ code: 'unrecognized_keys', keys, path: ['event_payload'], message: 'is not a gain' })
}

/** For messages about what should be an event, and is none. */
const EXAMPLE = '{"event_name": "contract_signed"}'

const body = strictBody(
  {
    lead_id: ownLeadId,
    ...shape,
    event_name: shape.event_name.optional(),
    events: z
      .array(
        strictBody(shape, `such as ${EXAMPLE}`).superRefine(refusePayload).meta({ id: 'EventToSimulate' }),
        `must be a list, such as [${EXAMPLE}]`,
      )
      .min(1, 'must not be empty')
      .max(MOST_SIMULATED, `must have at most ${MOST_SIMULATED} events`)
      .optional()
      .describe('Several milestones, recorded in this order.'),
  },
  'lead_id is required',
)
  .refine(
    ({ events, event_name: name, event_payload: payload, days_ago: ago }) =>
      events === undefined ? name !== undefined : (name ?? payload ?? ago) === undefined,
    eitherOr('event_name', 'events'),
  )
  .superRefine(refusePayload)

const simulated = eventSchema(
  'SimulatedEvent',
  {
    ...eventShape,
    recorded: z
      .boolean()
      .describe('`false` if the lead has this event already; the other fields are that event’s.'),
    event_id: ofEvent,
    sequence: webhookSequenceOrNone,
  },
  simulatedKinds,
)

const schema = operation({
  operationId: 'simulateEvent',
  tags: ['Sandbox'],
  summary: 'Simulate milestones',
  description: `Makes milestones of a lead happen now, on the lead’s clock. They are recorded and sent as in production. Send \`event_name\` for one, or \`events\` for up to ${MOST_SIMULATED} in their order. \`lead_received\` cannot be simulated: create-lead makes it happen. A milestone that happens only once and is there already is not recorded again. With \`days_ago\`, a milestone is backdated: its date is older than its webhook. After a 503 the milestones may still be recorded; a repeat with the same \`Idempotency-Key\` records none of them twice.`,
  parameters: [
    idempotencyParameter('unique to each request: with other milestones, it is another request', 'test-17'),
  ],
  body,
  bodyExamples: {
    one: { lead_id: 1042, event_name: 'contract_signed' },
    'a score update with gains': {
      lead_id: 1042,
      event_name: 'score_update',
      event_payload: {
        experian_gain: 14,
        equifax_gain: 9,
        transunion_gain: 11,
        estimated_time_remaining: '60-90 days',
      },
    },
    backdated: { lead_id: 1042, event_name: 'contract_signed', days_ago: 3 },
    several: { lead_id: 1042, events: [{ event_name: 'contract_signed' }, { event_name: 'escrow_funded' }] },
  },
  response: z.object({
    success,
    data: z
      .object({
        lead_id: ofLead,
        status: leadStatus,
        events: z.array(simulated).describe('In the order of the request.'),
        next: dueView,
      })
      .meta({ id: 'Simulation' }),
  }),
  responseDescription: 'The milestones are recorded, and their webhooks are on their way.',
  responseExamples: {
    recorded: {
      success: true,
      data: {
        lead_id: 1042,
        status: 'escrow_funded',
        events: [
          {
            recorded: true,
            event_id: 'evt_0195550a-6b8a-7c31-9d2e-3f4a5b6c7d8e',
            event_name: 'escrow_funded',
            event_payload: null,
            created_at: '2026-03-09 10:30:00',
            sequence: 3,
          },
        ],
        next: { what: 'score_update', at: '2026-04-23 10:30:00' },
      },
    },
  },
  errors: [
    invalidRequest({ field: 'event_name', problem: 'must be one of contract_signed, escrow_funded, …' }),
    unknownLead(),
    new ApiError('LEAD_CLOSED'),
    new ApiError('LEAD_FULL'),
    tooManyRequests(),
  ],
})

function tooManyRequests(): ApiError {
  return retryLater('RATE_LIMITED', `${MOST_REQUESTS} of your requests to simulate are being answered.`, 1)
}

type Simulated = z.output<typeof body>

/** POST /sandbox/simulate-event: milestones of a lead, recorded as production records them. */
export const simulateEvent: FastifyPluginAsyncZod<{ sql: Sql; simulate: Referrals['simulate'] }> = async (
  app,
  { sql, simulate },
) => {
  const limitRequests = limitInFlight(MOST_REQUESTS, tooManyRequests)
  app.post('/sandbox/simulate-event', {
    schema,
    handler: async (request, reply) => {
      const { partnerId } = request
      const { lead_id: lead } = request.body
      request.leadId = lead
      const sent = eventsOf(request.body)
      const key = keyOf(idempotencyKeyOf(request), sent)
      if (!(await ownsLead(sql, partnerId, lead))) throw unknownLead()
      limitRequests(partnerId, reply)
      const isDated = sent.some(({ daysAgo }) => daysAgo !== undefined)
      const now = (isDated && (await readLeadClock(sql, lead))?.now) || Date.now()
      const events = sent.map(({ daysAgo, ...event }) => ({
        ...event,
        ...(daysAgo && { at: now - daysAgo * DAY_MS }),
      }))
      const answers = await simulate(lead, { key, request_id: request.id, events }).catch((err: unknown) => {
        request.log.warn({ err }, 'not simulated')
        return 'unanswered' as const
      })
      if (answers === 'unanswered') throw unavailable()
      const outcomes = answers === 'closed' ? [answers] : answers.map(({ outcome }) => outcome)
      if (answers === 'closed' || outcomes.includes('closed')) throw new ApiError('LEAD_CLOSED')
      if (outcomes.includes('full')) throw new ApiError('LEAD_FULL')
      const recorded = await findRecorded(
        sql,
        answers.flatMap(({ event_id: id }) => id ?? []),
      )
      const clock = await readLeadClock(sql, lead)
      if (clock === undefined) throw unknownLead()
      const simulatedEvents = answers.flatMap(({ outcome, event_id: id }) => {
        const event = recorded.get(id ?? '')
        if (event === undefined) return []
        return { ...event, recorded: outcome === 'recorded', created_at: formatTimestamp(event.created_at) }
      })
      const data = { lead_id: lead, status: clock.status, events: simulatedEvents, next: dueOf(clock) }
      return { success: true as const, data }
    },
  })
}

/**
 * Short, and never the same for a header and without one. Other milestones under the same header are another request:
 * nothing remembers what the first one was, and a score update with other gains must not count as recorded.
 */
function keyOf(header: string | undefined, events: object[]): string {
  if (header === undefined) return randomUUID()
  return createHash('sha256')
    .update(JSON.stringify([header, events]))
    .digest('hex')
}

function eventsOf({ event_name: name, events = [], ...sent }: Simulated) {
  const single = name === undefined ? [] : [{ ...sent, event_name: name }]
  return [...single, ...events].map((event) => {
    const gains = parseScoreGains(event.event_payload)
    return {
      name: event.event_name,
      ...(gains && { gains }),
      ...(event.days_ago && { daysAgo: event.days_ago }),
    }
  })
}
