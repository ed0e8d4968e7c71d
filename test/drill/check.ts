import type { Arrival } from '../support/partner-endpoint.ts'
import type { Facts } from './facts.ts'

/** Each answers what breaks it, nothing if it holds. */
const invariants: Record<string, (facts: Facts) => string[]> = {
  'the API answers 200, or 503 while something is away': ({ journal }) => journal.unexpected,

  'a lead of the record reads back as it was sent': ({ journal, record, readBack }) =>
    journal.borrowers.flatMap(({ fields, acks }) =>
      acks.flatMap(({ leadId }) => {
        if (!record.leads.has(leadId)) return []
        const { status, body } = readBack.get(leadId) ?? { status: 0, body: {} }
        const data = (body.data ?? {}) as Record<string, unknown>
        const isSame = Object.entries(fields).every(([name, value]) => data[name] === value)
        return status === 200 && isSame ? [] : `lead ${leadId}: ${status} ${JSON.stringify(data)}`
      }),
    ),

  'no lead id is given to two borrowers': ({ journal }) =>
    twofold(journal.borrowers.flatMap(({ key, acks }) => acks.map(({ leadId }) => [`lead ${leadId}`, key]))),

  'a repeated create-lead gets the same lead, or a new one if that is lost': ({ journal }) =>
    journal.borrowers.flatMap(({ key, acks }) => {
      const ids = acks.map(({ leadId }) => leadId)
      const isRight = ids.every((id, index) => {
        const before = ids[index - 1]
        return before === undefined || (id !== before) === journal.lost.has(before)
      })
      return isRight ? [] : `${key}: ${ids.join(', ')}`
    }),

  'a lead and sequence always have the same content': ({ arrivals }) =>
    twofold(arrivals.map(({ event, body }) => [placeOf(event), body])),

  'a webhook-id is always the same lead, event and content': ({ arrivals }) =>
    twofold(arrivals.map(({ id, body }) => [id, body])),

  'every webhook is signed': ({ arrivals }) =>
    arrivals.filter(({ verified }) => !verified).map(({ event }) => placeOf(event)),

  'sequences of a lead only rise': ({ arrivals }) => {
    const highest = new Map<number, number>()
    const known = new Set<string>()
    return arrivals.flatMap(({ event, id }) => {
      const { lead_id: lead, sequence } = event.data
      const before = highest.get(lead) ?? 0
      highest.set(lead, Math.max(before, sequence))
      const isNew = !known.has(id)
      known.add(id)
      return isNew && sequence <= before ? `${placeOf(event)} came after ${before}` : []
    })
  },

  'every webhook of the record was delivered as the record has it': ({ record, arrivals }) => {
    const arrived = new Map(arrivals.map(({ id, body }) => [id, body]))
    return record.deliveries.flatMap(({ event_id: id, lead_id: lead, sequence, state, body }) =>
      state === 'delivered' && arrived.get(id) === body ? [] : `lead ${lead}, ${sequence}: ${state}`,
    )
  },

  'a milestone that was taken for a lead of the record is recorded once': ({ journal, record }) => {
    const recorded = countBy(record.events, ({ lead_id: lead, dedupe_key: key }) => `${lead} ${key}`)
    return journal.milestones.flatMap(({ leadId, dedupeKey }) => {
      const count = recorded.get(`${leadId} ${dedupeKey}`) ?? 0
      return !record.leads.has(leadId) || count === 1 ? [] : `lead ${leadId}: ${dedupeKey} ${count} times`
    })
  },

  'every lead of the record has a running workflow': ({ record, running }) =>
    [...record.leads.keys()].flatMap((id) => (running.has(id) ? [] : `lead ${id}`)),

  'no workflow runs for a lead that the record does not have': ({ record, running }) =>
    [...running].flatMap((id) => (record.leads.has(id) ? [] : `lead ${id}`)),

  'who follows list-events has every event of the record': ({ record, follower }) =>
    record.events.flatMap(({ id, lead_id: lead, position }) =>
      follower.seen.has(id) ? [] : `lead ${lead}, event ${position}`,
    ),
}

export interface Broken {
  invariant: string
  /** What breaks it, at most the first few. */
  examples: string[]
  count: number
}

const MOST_EXAMPLES = 3

export function checkInvariants(facts: Facts): Broken[] {
  return Object.entries(invariants).flatMap(([invariant, find]) => brokenBy(invariant, find(facts)))
}

export function brokenBy(invariant: string, faults: readonly string[]): Broken[] {
  if (faults.length === 0) return []
  return [{ invariant, examples: faults.slice(0, MOST_EXAMPLES), count: faults.length }]
}

const placeOf = ({ data }: Arrival['event']) => `lead ${data.lead_id}, ${data.sequence}`

/** The names that come with two values. */
function twofold(pairs: readonly (readonly [string, string])[]): string[] {
  const first = new Map<string, string>()
  const names = new Set<string>()
  for (const [name, value] of pairs) {
    if (!first.has(name)) first.set(name, value)
    else if (first.get(name) !== value) names.add(name)
  }
  return [...names]
}

function countBy<Item>(items: readonly Item[], nameOf: (item: Item) => string): Map<string, number> {
  const counts = new Map<string, number>()
  for (const item of items) counts.set(nameOf(item), (counts.get(nameOf(item)) ?? 0) + 1)
  return counts
}
