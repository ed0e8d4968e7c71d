import { createHash, randomUUID } from 'node:crypto'
import type { FastifyPluginAsyncZod } from '@fastify/type-provider-zod'
import { z } from 'zod'
import { readLeadClock } from '../statements/next-due.ts'
import { findRecorded, ownsLead } from '../../../core/leads/statements/partner-reads.ts'
import { MOST_SIMULATED } from '../../../core/leads/decisions/milestone-keys.ts'
import type { SignalledMilestone } from '../../../core/leads/decisions/milestones.ts'
import { parseScoreGains, type ScoreGains } from '../../../core/leads/decisions/event-payloads.ts'
import { DAY_MS } from '../../../core/values/durations.ts'
import { formatTimestamp } from '../../../core/values/timestamps.ts'
import type { SandboxRouteDependencies } from './dependencies.ts'
import { ApiError, invalidRequest, unavailable, unknownLead } from '../../../core/http/errors.ts'
import { leadId } from '../../../core/http/fields.ts'
import { idempotencyKeyOf, idempotencyParameter } from '../../../core/idempotency/routes/idempotency-key.ts'
import { operation } from '../../../core/http/openapi/operation.ts'
import { eventShape, eventSchema, simulatedKinds } from '../../../core/http/events.ts'
import { eitherOr, leadStatus, strictBody } from '../../../core/http/schemas.ts'
import { dueOf, dueView, leadClosed } from './clock-view.ts'
import {
  daysAgo,
  EXAMPLE,
  eventName,
  eventPayload,
  refusePayload,
  simulatedEvent,
} from './simulated-event.ts'
import { ofEvent, ofLead, webhookSequenceOrNone, success } from '../../../core/http/response-fields.ts'

type Options = Pick<SandboxRouteDependencies, 'sql' | 'simulate'>

const body = strictBody(
  {
    lead_id: leadId,
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
