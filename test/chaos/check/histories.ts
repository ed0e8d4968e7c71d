import type { RecordedEvent } from '../collect.ts'
import type { Evidence, LeadJournal, View } from '../evidence.ts'
import { factsOf } from '../load-plan.ts'
import { type Verdict, verdict } from './verdict.ts'

export function checkHistories({ leads, reads, views, record }: Evidence): Verdict[] {
  const recorded = Map.groupBy(record.events, ({ lead_id: leadId }) => leadId)
  const eventsOf = ({ leadId }: { leadId: number | null }) => recorded.get(leadId ?? 0) ?? []
  const known = leads.filter(({ leadId }) => leadId !== null)
  const facts = known.flatMap((lead) => Array.from(factsOf(lead), ([fact, sent]) => ({ lead, fact, sent })))
  return [
    verdict('every milestone is acknowledged in the end', facts, ({ lead, fact, sent }) => {
      const { acknowledgedAt, tries, lastError } = sent
      return acknowledgedAt === null && `lead ${lead.leadId}: ${fact} after ${tries} tries: ${lastError}`
    }),
    verdict(
      'every acknowledged milestone is recorded once, as sent and in turn; and no other',
      known,
      (lead) => unlikeSent(lead, eventsOf(lead)),
    ),
    verdict('positions have no gaps, and no event is older than the one before it', known, (lead) => {
      const events = eventsOf(lead)
      const wrong = events.find(
        ({ position, created_at: at }, index) =>
          position !== index + 1 || at < (events[index - 1]?.created_at ?? at),
      )
      return wrong && `lead ${lead.leadId}: position ${wrong.position}`
    }),
    verdict('what was read earlier is how the history still begins', reads, ({ leadId, view }) => {
      const later = (views.get(leadId)?.events ?? []).map(toLine)
      return !view.events.map(toLine).every((line, index) => line === later[index]) && `lead ${leadId}`
    }),
  ]
}

/**
 * Every history begins with its only `lead_received`. A score update without gains is recorded when the provider has answered,
 * which may take longer than the next.
 */
function unlikeSent(lead: LeadJournal, [first, ...events]: RecordedEvent[]): string | undefined {
  const sent = [...factsOf(lead).values()]
    .filter(({ acknowledgedAt }) => acknowledgedAt !== null)
    .toSorted((a, b) => (a.acknowledgedAt ?? 0) - (b.acknowledgedAt ?? 0))
  const expected = sent
    .filter(({ name, gains }) => name !== 'score_update' || gains !== undefined)
    .map(({ name, gains }) => `${name} ${canonical(gains ?? null)}`)
  const recorded = events.map(
    ({ event_name: name, event_payload: payload }) => `${name} ${canonical(payload)}`,
  )
  const inTurn = recorded.filter((line) => expected.includes(line))
  const isSame = recorded.length === sent.length && inTurn.join() === expected.join()
  const isRight = isSame && first?.event_name === 'lead_received'
  return isRight ? undefined : `lead ${lead.leadId}: ${first?.event_name}, ${recorded.join()}`
}

/** The same text for the same payload: PostgreSQL orders an object's keys. */
function canonical(payload: object | null): string {
  return JSON.stringify(
    payload && Object.fromEntries(Object.entries(payload).toSorted(([a], [b]) => a.localeCompare(b))),
  )
}

const toLine = ({ event_name: name, event_payload: payload, created_at: at }: View['events'][number]) =>
  `${name} ${canonical(payload as object | null)} ${at}`
