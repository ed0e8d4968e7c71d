import { createHash, randomUUID } from 'node:crypto'
import type { FastifyPluginAsyncZod } from '@fastify/type-provider-zod'
import { z } from 'zod'
import { simulateUpdate } from '../../workflows/messages.ts'
import type { Sql } from '../database/sql.ts'
import { ApiError, invalidRequest, unknownLead } from '../http/errors.ts'
import { oneOf, ownLeadId } from '../http/fields.ts'
import { idempotencyKeyOf, idempotencyParameter } from '../http/idempotency.ts'
import { operation } from '../http/operation.ts'
import { eitherOr, ofEvent, refTo, strictBody, success, webhookSequenceOrNone } from '../http/schemas.ts'
import {
  type InHistory,
  faultyGains,
  parseScoreGains,
  type ScoreGains,
  takesPayload,
  unknownGains,
} from '../leads/event-payloads.ts'
import { eventShape } from '../leads/event-schema.ts'
import { type MilestoneName, signalledMilestones } from '../leads/milestones.ts'
import { MOST_SIMULATED } from '../leads/referral-state.ts'
import { requireOwnLead } from '../partners/own-lead.ts'
import { formatTimestamp } from '../values.ts'
import { askLead, type AskingOptions } from './ask-lead.ts'
import { exampleStanding, standing, standingOf } from './get-clock.ts'
import { clockOf } from './lead-time.ts'

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
  for (const { field, form } of faultyGains(payload))
    context.addIssue({ code: 'custom', path: ['event_payload', field], message: `must be ${form}` })
  const keys = unknownGains(payload)
  if (keys.length > 0)
    context.addIssue({ code: 'unrecognized_keys', keys, path: ['event_payload'], message: 'is not a gain' })
}

const body = strictBody(
  {
    lead_id: ownLeadId,
    ...shape,
    event_name: shape.event_name.optional(),
    events: z
      .array(
        strictBody(shape).superRefine(refusePayload).meta({ id: 'EventToSimulate' }),
        'must be a list of events',
      )
      .min(1, 'must not be empty')
      .max(MOST_SIMULATED, `must have at most ${MOST_SIMULATED} events`)
      .optional()
      .describe('Several milestones, recorded in this order.'),
  },
  'lead_id is required',
)
  .refine(
    ({ events, event_name: name, event_payload: payload }) =>
      events === undefined ? name !== undefined : (name ?? payload) === undefined,
    eitherOr('event_name', 'events'),
  )
  .superRefine(refusePayload)

const simulated = z
  .object({
    ...eventShape,
    recorded: z
      .boolean()
      .describe('`false` if the lead has this event already; the other fields are that event’s.'),
    event_id: ofEvent,
    sequence: webhookSequenceOrNone,
  })
  .meta({ id: 'SimulatedEvent' })

const schema = operation({
  operationId: 'simulateEvent',
  tags: ['Sandbox'],
  summary: 'Simulate milestones',
  description: `Makes milestones of a lead happen now, on the lead’s clock. They are recorded and sent as in production. Send \`event_name\` for one, or \`events\` for up to ${MOST_SIMULATED} in their order. \`lead_received\` cannot be simulated: create-lead records it. A milestone that happens only once is not recorded again if the lead has it. After a 503 the milestones may still be recorded; a repeat with the same \`Idempotency-Key\` records none of them twice.`,
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
    several: { lead_id: 1042, events: [{ event_name: 'contract_signed' }, { event_name: 'escrow_funded' }] },
  },
  response: z.object({
    success,
    data: z
      .object({
        ...standing,
        events: z.array(simulated).describe('In the order of the request.'),
      })
      .meta({ id: 'Simulation' }),
  }),
  responseDescription: 'The milestones are recorded, and their webhooks are on their way.',
  responseExamples: {
    recorded: {
      success: true,
      data: {
        ...exampleStanding,
        events: [
          {
            recorded: true,
            event_id: 'evt_0195550a-6b8a-7c31-9d2e-3f4a5b6c7d8e',
            event_name: 'client_engaged_in_chat',
            event_payload: null,
            created_at: '2026-04-23 10:30:01',
            sequence: null,
          },
        ],
      },
    },
  },
  errors: [
    invalidRequest({ field: 'event_name', problem: 'must be one of contract_signed, escrow_funded, …' }),
    unknownLead(),
    new ApiError('LEAD_CLOSED'),
    new ApiError('LEAD_FULL'),
  ],
})

/** POST /sandbox/simulate-event: milestones of a lead, recorded as production records them. */
export const simulateEvent: FastifyPluginAsyncZod<AskingOptions> = async (app, { sql, referrals }) => {
  app.post('/sandbox/simulate-event', {
    schema,
    handler: async (request) => {
      const { lead_id: lead } = request.body
      const events = eventsOf(request.body)
      const key = keyOf(idempotencyKeyOf(request), events)
      await requireOwnLead(sql, request, lead)
      const simulation = { key, request_id: request.id, events }
      const answers = await askLead(request, 'not simulated', () =>
        referrals.update(lead, simulateUpdate, [simulation], key),
      )
      for (const { outcome } of answers)
        if (outcome === 'closed' || outcome === 'full')
          throw new ApiError(outcome === 'closed' ? 'LEAD_CLOSED' : 'LEAD_FULL')
      const recorded = await findRecorded(
        sql,
        answers.flatMap(({ event_id: id }) => id ?? []),
      )
      const simulatedEvents = answers.flatMap(({ outcome, event_id: id }) => {
        const event = recorded.get(id ?? '')
        if (event === undefined) return []
        return { ...event, recorded: outcome === 'recorded', created_at: formatTimestamp(event.created_at) }
      })
      const clock = await clockOf(sql, lead)
      return { success: true as const, data: { ...standingOf(clock), events: simulatedEvents } }
    },
  })
}

/**
 * The id of the update, random without a header. Other milestones under the same header are another request: nothing
 * remembers what the first one was, and a score update with other gains must not count as recorded.
 */
function keyOf(header: string | undefined, events: object[]): string {
  if (header === undefined) return randomUUID()
  return createHash('sha256')
    .update(JSON.stringify([header, events]))
    .digest('hex')
}

function eventsOf({ event_name: name, events = [], ...sent }: z.output<typeof body>) {
  const single = name === undefined ? [] : [{ ...sent, event_name: name }]
  return [...single, ...events].map((event) => {
    const gains = parseScoreGains(event.event_payload)
    return { name: event.event_name, ...(gains && { event_payload: gains }) }
  })
}

/** Events by their ids, with the place of each among the lead's webhooks. */
async function findRecorded(sql: Sql, eventIds: string[]) {
  const rows = await sql
    .selectFrom('lead_events')
    .leftJoin('deliveries', 'deliveries.event_id', 'lead_events.id')
    .select(['lead_events.id as event_id', 'event_name', 'event_payload', 'created_at', 'sequence'])
    .where('lead_events.id', '=', (eb) => eb.fn.any(eb.val(eventIds)))
    .where('position', '>', 0)
    .$narrowType<InHistory>()
    .execute()
  return new Map(rows.map((row) => [row.event_id, row]))
}
