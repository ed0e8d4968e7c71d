import { z } from 'zod'
import { type FeedEventName, LARGEST_GAIN, LEAD_CLOSED_EVENT, TIME_REMAINING } from './event-payloads.ts'
import { type MilestoneName, milestoneNames, milestones } from './milestones.ts'
import { timestamp } from '../http/fields.ts'
import { closeReason, discriminated, eventName, leadFieldMeanings } from '../http/schemas.ts'

/** Events on the wire: one lead's history, the feed of all leads, exports and webhooks. */

const gain = (bureau: string) =>
  z
    .int()
    .min(-LARGEST_GAIN)
    .max(LARGEST_GAIN)
    .describe(`The change of the ${bureau} score in points; negative if it fell.`)

const scoreGains = z
  .object({
    experian_gain: gain('Experian'),
    equifax_gain: gain('Equifax'),
    transunion_gain: gain('TransUnion'),
    estimated_time_remaining: z
      .string()
      .regex(TIME_REMAINING)
      .describe(
        'In how many days the borrower will probably be mortgage-ready, as a range: `<min>-<max> days`.',
      ),
  })
  .meta({
    id: 'ScoreGains',
    description:
      'The points that each bureau’s score has gained since the `score_update` before, or, the first time, since the journey began; negative if it fell.',
  })

const leadReceivedPayload = z
  .object({ partner_lead_id: z.string().describe(leadFieldMeanings.partner_lead_id) })
  .meta({ id: 'LeadReceivedPayload', description: 'Your own identifier, as you sent it with create-lead.' })

const closedPayload = z
  .object({ reason: closeReason })
  .meta({ id: 'LeadClosedPayload', description: 'Why it was closed.' })

/** The name of an event that is added later, for readers that know today's only. */
export const laterName = (known: readonly string[]) =>
  z
    .string()
    .refine((name) => !known.includes(name))
    .meta({ description: 'One that was added later.', not: { enum: known } })

/** Its payload. */
const laterPayload = z.record(z.string(), z.unknown()).nullable()

const payloads = [
  { prefix: 'LeadReceived', kind: 'lead_received', payload: leadReceivedPayload.nullable() },
  { prefix: 'ScoreUpdate', kind: 'score_update', payload: scoreGains },
  { prefix: 'Milestone', kind: null, payload: z.null().describe('These milestones have none.') },
]

/** Events whose payload has the same shape. */
export interface EventKind {
  /** What the names of its schemas begin with. */
  prefix: string
  names: FeedEventName[]
  fields: { event_name: z.ZodType; event_payload: z.ZodType }
}

/** The kinds of the events in `milestoneNames`; `id` names those of them that have no payload. */
export function kindsOf(names: readonly MilestoneName[], id: string): EventKind[] {
  return payloads.map(({ prefix, kind, payload }) => {
    const ofKind = names.filter((name) => milestones[name].payload === kind)
    const [first, ...others] = ofKind
    const event_name =
      others.length === 0
        ? z.literal(first).describe('The milestone.')
        : z.enum(ofKind).meta({ id, description: 'A milestone without a payload.' })
    return { prefix, names: ofKind, fields: { event_name, event_payload: payload } }
  })
}

const eventKinds = kindsOf(milestoneNames, 'MilestoneEventName')

/** Those of the feed, which also has closings. */
export const feedKinds: EventKind[] = [
  ...eventKinds,
  {
    prefix: 'LeadClosed',
    names: [LEAD_CLOSED_EVENT],
    fields: {
      event_name: z.literal(LEAD_CLOSED_EVENT).describe('What happened.'),
      event_payload: closedPayload,
    },
  },
]

/**
 * Events as several schemas that `event_name` tells apart, so that generated clients know the payload of each, and take those
 * that are added later. Handlers see the plain fields.
 */
export function eventSchema<Shape extends z.ZodRawShape>(
  id: string,
  shape: Shape,
  kinds: readonly EventKind[] = eventKinds,
) {
  const each = kinds.map(({ prefix, names, fields }) => {
    const schemaId = `${prefix}${id}`
    return { schemaId, names, schema: z.object({ ...shape, ...fields }).meta({ id: schemaId }) }
  })
  const others = z
    .object({
      ...shape,
      event_name: laterName(kinds.flatMap(({ names }) => names)),
      event_payload: laterPayload,
    })
    .meta({ id: `Other${id}` })
  return discriminated(id, 'event_name', each, others) as object as z.ZodObject<Shape>
}

export const eventShape = {
  event_name: eventName,
  event_payload: z.union([scoreGains, leadReceivedPayload, closedPayload, z.null()]),
  created_at: timestamp.describe('When it happened.'),
}

export const event = eventSchema('Event', eventShape)
