import { createHash, randomUUID } from 'node:crypto'
import type { FastifyPluginAsyncZod } from '@fastify/type-provider-zod'
import { z } from 'zod'
import { ApiError, invalidRequest, lineOf, unavailable, unknownLead } from '../http/errors.ts'
import { integer, ownLeadId, oneOf } from '../http/fields.ts'
import { idempotencyKeyOf, idempotencyParameter } from '../http/idempotency.ts'
import { refTo } from '../http/json-schema.ts'
import { operation } from '../http/operation.ts'
import {
  aboutFields,
  eitherOr,
  leadStatus,
  ofEvent,
  ofLead,
  strictBody,
  strictly,
  success,
  webhookSequenceOrNone,
} from '../http/schemas.ts'
import { notAmong, unknownFaults } from '../http/unknown-fields.ts'
import {
  faultOfScoreGains,
  gainsFields,
  neededGains,
  parseScoreGains,
  type ScoreGains,
  takesPayload,
  unknownGains,
} from '../leads/event-payloads.ts'
import { eventSchema, eventShape, simulatedKinds } from '../leads/event-schema.ts'
import { type MilestoneName, type SignalledMilestone, signalledMilestones } from '../leads/milestones.ts'
import { findRecorded, ownsLead } from '../leads/read-lead.ts'
import { MOST_SIMULATED } from '../leads/referral-state.ts'
import { DAY_MS, formatTimestamp } from '../values.ts'
import { dueOf, dueView, leadClosed } from './clock-view.ts'
import type { SandboxRouteDependencies } from './dependencies.ts'
import { readLeadClock } from './lead-time.ts'

const eventName = z
  .enum(signalledMilestones, { error: oneOf(signalledMilestones) })
  .meta({ id: 'SimulatedEventName' })

/** Anything at first: what it must be depends on the milestone. */
const eventPayload = z
  .custom<ScoreGains | null>()
  .optional()
  .meta({
    anyOf: [{ $ref: refTo('ScoreGains'), unevaluatedProperties: false }, { type: 'null' }],
    description: 'For `score_update` only. Without it, the sandbox makes up gains.',
  })

/** The longest that a milestone is known late. */
const MOST_DAYS_AGO = 730

const daysAgo = integer(0, MOST_DAYS_AGO)
  .optional()
  .describe(
    'Backdates the milestone: how many days ago it happened, on the lead’s clock. Dates of a lead never go back: a milestone that would be older than the lead’s last event gets the date of that.',
  )

interface Sent {
  event_name?: MilestoneName | undefined
  event_payload?: unknown
}

/** Only a score update has a payload of its own, which has the fields of gains and no others. */
function refusePayload(sent: Sent, context: z.RefinementCtx): void {
  const { event_name: name, event_payload: payload } = sent
  if (payload === undefined || payload === null || name === undefined) return
  const refuse = (message: string, about: object = {}) =>
    context.addIssue({ code: 'custom', path: ['event_payload'], message, ...about })
  if (!takesPayload(name))
    return refuse(`must be absent: of these milestones, only score_update has a payload, not ${name}`)
  const unknown = unknownFaults(unknownGains(payload), notAmong(gainsFields))
  const messages = [
    faultOfScoreGains(payload),
    unknown.length > 0 && `must have gains only: ${unknown.map(lineOf).join('; ')}`,
  ]
  const message = messages.filter(Boolean).join('; ')
  if (message === '') return
  const needed = typeof payload === 'object' ? neededGains(payload) : []
  const faults = needed.map(({ field, form }) => ({ field, problem: `must be ${form}` }))
  refuse(message, aboutFields(...faults, ...unknown))
}

/** For messages about what should be an event, and is none. */
const EXAMPLE = '{"event_name": "contract_signed"}'

const simulatedShape = { event_name: eventName, event_payload: eventPayload, days_ago: daysAgo }

const simulatedEvent = z
  .strictObject(simulatedShape, strictly(simulatedShape, `must be an object, such as ${EXAMPLE}`))
  .superRefine(refusePayload)
  .meta({ id: 'EventToSimulate' })

type Options = Pick<SandboxRouteDependencies, 'sql' | 'simulate'>

const body = strictBody(
  {
    lead_id: ownLeadId,
    event_name: eventName.optional(),
    event_payload: eventPayload,
    days_ago: daysAgo,
    events: z
      .array(simulatedEvent, `must be a list, such as [${EXAMPLE}]`)
      .min(1, 'must not be empty')
      .max(MOST_SIMULATED, `must have at most ${MOST_SIMULATED} events`)
      .optional()
      .describe('Several milestones, recorded in this order.'),
  },
  'lead_id is required',
).superRefine((sent, context) => {
  const { event_name: name, event_payload: payload, days_ago: ago, events } = sent
  const isSingle = payload !== undefined || ago !== undefined
  if ((name === undefined) === (events === undefined) || (events !== undefined && isSingle))
    context.addIssue({ code: 'custom', ...eitherOr('event_name', 'events') })
  refusePayload(sent, context)
})

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
    leadClosed(),
    new ApiError('LEAD_FULL'),
  ],
})

/** POST /sandbox/simulate-event: milestones of a lead, recorded as production records them. */
export const simulateEvent: FastifyPluginAsyncZod<Options> = async (app, { sql, simulate }) => {
  app.post('/sandbox/simulate-event', {
    schema,
    handler: async (request) => {
      const { partnerId } = request
      const { lead_id: lead } = request.body
      request.leadId = lead
      const events = eventsOf(request.body)
      const key = keyOf(idempotencyKeyOf(request), events)
      if (!(await ownsLead(sql, partnerId, lead))) throw unknownLead()
      const dated = events.some(({ daysAgo: ago }) => ago !== undefined)
        ? backdated(events, (await readLeadClock(sql, lead))?.now ?? Date.now())
        : events
      const answers = await simulate(lead, { key, request_id: request.id, events: dated }).catch(
        (err: unknown) => {
          request.log.warn({ err }, 'not simulated')
          throw unavailable()
        },
      )
      if (answers === 'closed' || (answers !== 'unanswered' && answers.some(isRefused))) throw leadClosed()
      if (answers === 'unanswered') throw unavailable()
      if (answers.some(({ outcome }) => outcome === 'full')) throw new ApiError('LEAD_FULL')
      const recorded = await findRecorded(
        sql,
        answers.flatMap(({ event_id: eventId }) => eventId ?? []),
      )
      const clock = await readLeadClock(sql, lead)
      if (clock === undefined) throw unknownLead()
      const simulatedEvents = answers.flatMap(({ outcome, event_id: eventId }) => {
        const row = recorded.get(eventId ?? '')
        if (row === undefined) return []
        return {
          recorded: outcome === 'recorded',
          event_id: row.event_id,
          event_name: row.event_name,
          event_payload: row.event_payload,
          created_at: formatTimestamp(row.created_at),
          sequence: row.sequence,
        }
      })
      return {
        success: true as const,
        data: { lead_id: lead, status: clock.status, events: simulatedEvents, next: dueOf(clock) },
      }
    },
  })
}

const isRefused = ({ outcome }: { outcome: string }) => outcome === 'closed'

/**
 * Short, and never the same for a header and without one. Other milestones under the same header are another request:
 * nothing remembers what the first one was, and a score update with other gains must not count as recorded.
 */
function keyOf(header: string | undefined, events: Event[]): string {
  if (header === undefined) return randomUUID()
  return createHash('sha256')
    .update(JSON.stringify([header, events]))
    .digest('hex')
}

interface Event {
  name: SignalledMilestone
  gains?: ScoreGains
  daysAgo?: number
}

/** On a clock that says `now`, in milliseconds. */
const backdated = (events: readonly Event[], now: number) =>
  events.map(({ daysAgo: ago, ...rest }) => ({ ...rest, ...(ago && { at: now - ago * DAY_MS }) }))

function eventsOf({
  event_name: name,
  event_payload: payload,
  days_ago: ago,
  events,
}: z.output<typeof body>): Event[] {
  const sent =
    events ?? (name === undefined ? [] : [{ event_name: name, event_payload: payload, days_ago: ago }])
  return sent.map(({ event_name, event_payload, days_ago }) => {
    const gains = parseScoreGains(event_payload)
    return { name: event_name, ...(gains && { gains }), ...(days_ago && { daysAgo: days_ago }) }
  })
}
