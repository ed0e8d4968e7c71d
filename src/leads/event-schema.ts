import { z } from 'zod'
import { type FeedEventName, LARGEST_GAIN, LEAD_CLOSED_EVENT, TIME_REMAINING } from './event-payloads.ts'
import { type MilestoneName, milestoneNames, milestones } from './milestones.ts'
import { optionalRules, timestamp } from '../http/fields.ts'
import { closeReason, eventName, refTo } from '../http/schemas.ts'

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
  .object({ partner_lead_id: z.string().describe(optionalRules.partner_lead_id.meaning) })
  .meta({ id: 'LeadReceivedPayload', description: 'Your own identifier, as you sent it with create-lead.' })

const closedPayload = z
  .object({ reason: closeReason })
  .meta({ id: 'LeadClosedPayload', description: 'Why it was closed.' })

/** The schema of each payload of the milestone table, and the prefix of the schema ids of its events. */
const payloads = [
  { kind: 'lead_received', prefix: 'LeadReceived', payload: leadReceivedPayload.nullable() },
  { kind: 'score_update', prefix: 'ScoreUpdate', payload: scoreGains },
  { kind: null, prefix: 'Milestone', payload: z.null().describe('These milestones have none.') },
]

/** Events whose payload has the same shape. */
interface EventKind {
  prefix: string
  names: FeedEventName[]
  fields: { event_name: z.ZodType; event_payload: z.ZodType }
}

/** The kinds of the events in `names`. `id` is the schema id of the names without a payload. */
export function kindsOf(names: readonly MilestoneName[], id: string): EventKind[] {
  return payloads.map(({ kind, prefix, payload }) => {
    const ofKind = names.filter((name) => milestones[name].payload === kind)
    const event_name =
      ofKind.length === 1
        ? z.literal(ofKind).describe('The milestone.')
        : z.enum(ofKind).meta({ id, description: 'A milestone without a payload.' })
    return { prefix, names: ofKind, fields: { event_name, event_payload: payload } }
  })
}

/** The kinds of events in a lead's history. */
export const historyKinds = kindsOf(milestoneNames, 'MilestoneEventName')

/** The kinds of events in list-events, which also has closings. */
export const feedKinds: EventKind[] = [
  ...historyKinds,
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
 * A union of schemas that `field` discriminates, so that generated clients know each of them. An object with an unknown
 * name was added later: it has the fields of `later`.
 */
export function unionOf(
  about: { id: string; description?: string },
  field: string,
  known: readonly { names: readonly string[]; schema: z.ZodType }[],
  later: { id: string; shape: z.ZodRawShape },
) {
  const names = known.flatMap((each) => each.names)
  const other = z
    .string()
    .refine((name) => !names.includes(name))
    .meta({ description: 'A name that was added later.', not: { enum: names } })
  const others = z.object({ ...later.shape, [field]: other }).meta({ id: later.id })
  const mapping = Object.fromEntries(
    known.flatMap(({ names: its, schema }) => its.map((name) => [name, refTo(schema.meta()?.id ?? '')])),
  )
  return z
    .xor([...known.map(({ schema }) => schema), others])
    .meta({ ...about, discriminator: { propertyName: field, mapping } })
}

/** The schema of events of several kinds. Handlers see the fields of `shape`. */
export function eventSchema<Shape extends z.ZodRawShape>(
  id: string,
  shape: Shape,
  kinds: readonly EventKind[],
) {
  const known = kinds.map(({ prefix, names, fields }) => ({
    names,
    schema: z.object({ ...shape, ...fields }).meta({ id: `${prefix}${id}` }),
  }))
  const event_payload = z.record(z.string(), z.unknown()).nullable()
  const later = { id: `Other${id}`, shape: { ...shape, event_payload } }
  return unionOf({ id }, 'event_name', known, later) as object as z.ZodObject<Shape>
}

export const eventShape = {
  event_name: eventName,
  event_payload: z.union([scoreGains, leadReceivedPayload, closedPayload, z.null()]),
  created_at: timestamp.describe('When it happened.'),
}
