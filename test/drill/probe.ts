import { until } from '../support/until.ts'
import { type Broken, brokenBy } from './check.ts'
import { readRecord, type RecordFacts } from './facts.ts'
import type { Journal, Load, Sent } from './load.ts'
import type { Stack } from './stack.ts'

const CHAT = 'client_engaged_in_chat'

/** The milestones that were taken and the record does not have, of leads that it has. */
export function missingMilestones({ milestones }: Journal, record: RecordFacts): Sent[] {
  const recorded = new Set(record.events.map(({ lead_id: lead, dedupe_key: key }) => `${lead} ${key}`))
  return milestones.filter(
    ({ leadId, dedupeKey }) => record.leads.has(leadId) && !recorded.has(`${leadId} ${dedupeKey}`),
  )
}

/** Sends what is missing once more, as its senders would. */
export async function sendAgain(load: Load, missing: readonly Sent[]): Promise<void> {
  await Promise.all(
    missing.map(({ leadId, name, dedupeKey }) => load.send(leadId, name, dedupeKey.split(':')[1])),
  )
}

/**
 * Sends each of some leads a milestone that may repeat, without an id, and a score update with one: both must be recorded,
 * and the second go out.
 */
export async function probeLeads(stack: Stack, load: Load, ids: readonly number[]): Promise<Broken[]> {
  const before = await readRecord(stack)
  const id = `probe-${Date.now()}`
  const { service, partner } = stack
  await Promise.all(
    ids.flatMap((lead) => [service.referrals.signal(lead, CHAT), load.send(lead, 'score_update', id)]),
  )
  let silent: number[] = []
  const isThere = async () => {
    const record = await readRecord(stack)
    const chats = ({ events }: RecordFacts, lead: number) =>
      events.filter(({ lead_id: of, event_name: name }) => of === lead && name === CHAT).length
    const arrived = new Set(partner.endpoint.arrivals.map(({ id: webhook }) => webhook))
    const told = record.events.flatMap(({ id: event, lead_id: lead, dedupe_key: key }) =>
      key === `score_update:${id}` && arrived.has(event) ? lead : [],
    )
    silent = ids.filter((lead) => chats(record, lead) === chats(before, lead) || !told.includes(lead))
    return silent.length === 0
  }
  await until(isThere).catch(() => undefined)
  return brokenBy(
    'a new milestone is recorded, and its webhook goes out',
    silent.map((lead) => `lead ${lead}`),
  )
}
