import { furthest, type MilestoneName, milestoneNames, milestones } from '../../../src/leads/milestones.ts'
import type { RecordedEvent } from '../collect.ts'
import type { Evidence, LeadJournal, View } from '../evidence.ts'
import { factsOf } from '../load-plan.ts'
import { type Verdict, verdict } from './verdict.ts'

export function checkHistories({ leads, reads, views, record }: Evidence): Verdict[] {
  const recorded = Map.groupBy(record.events, ({ lead_id: leadId }) => leadId)
  const eventsOf = ({ leadId }: { leadId: number | null }) => recorded.get(leadId ?? 0) ?? []
  const readsByLead = Map.groupBy(reads, ({ leadId }) => leadId)
  const known = leads.filter(({ leadId }) => leadId !== null)
  const facts = known.flatMap((lead) => Array.from(factsOf(lead), ([fact, sent]) => ({ lead, fact, sent })))
  return [
    verdict('every milestone is acknowledged in the end', facts, ({ lead, fact, sent }) => {
      const { acknowledgedAt, tries, lastError } = sent
      return acknowledgedAt === null && `lead ${lead.leadId}: ${fact} after ${tries} tries: ${lastError}`
    }),
    verdict('every acknowledged milestone is recorded once, and no other', known, (lead) =>
      unlikeSent(lead, eventsOf(lead)),
    ),
    verdict('milestones are recorded as they were sent, in the order of acknowledgement', known, (lead) =>
      outOfTurn(lead, eventsOf(lead)),
    ),
    verdict('what an update was answered is what is recorded', answersOf(known), ({ lead, name, answer }) => {
      const { outcome, event_id: eventId } = answer
      const isThere = eventsOf(lead).some((event) => event.id === eventId && event.event_name === name)
      const isRight = outcome === 'accepted' || (['recorded', 'repeated'].includes(outcome) && isThere)
      return !isRight && `lead ${lead.leadId}: ${name} was ${outcome} as ${eventId}`
    }),
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
    verdict('the status is the furthest milestone', known, (lead) => {
      const expected = eventsOf(lead).map((event) => event.event_name)
      const status = expected.filter((name) => milestones[name].status).reduce(furthest, 'lead_received')
      const shown = views.get(lead.leadId ?? 0)?.lead.status
      return shown !== status && `lead ${lead.leadId}: ${shown}, not ${status}`
    }),
    verdict('the status never goes back', readsByLead, ([leadId, earlier]) => {
      const shown = [...earlier.map(({ view }) => view), views.get(leadId)]
      const ranks = shown.map((view) => milestoneNames.indexOf(view?.lead.status as MilestoneName))
      const isBack = ranks.some((rank, index) => rank < (ranks[index - 1] ?? 0))
      return isBack && `lead ${leadId}: ${ranks.join(', ')}`
    }),
  ]
}

const answersOf = (leads: LeadJournal[]) =>
  leads.flatMap((lead) =>
    lead.milestones.flatMap(({ name, answers }) => answers.map((answer) => ({ lead, name, answer }))),
  )

/** Every history begins with its only `lead_received`. */
function unlikeSent(lead: LeadJournal, events: RecordedEvent[]): string | undefined {
  const facts = [...factsOf(lead).values()].filter(({ acknowledgedAt }) => acknowledgedAt !== null)
  const [first, ...found] = events.map((event) => event.event_name as string)
  const isSame =
    found.toSorted().join() ===
    facts
      .map(({ name }) => name)
      .toSorted()
      .join()
  return isSame && first === 'lead_received' ? undefined : `lead ${lead.leadId}: ${first}, ${found.join()}`
}

/** A score update without gains is recorded when the provider has answered, which may take longer than the next. */
function outOfTurn(lead: LeadJournal, events: RecordedEvent[]): string | undefined {
  const inTurn = [...factsOf(lead).values()].filter(
    ({ name, gains, acknowledgedAt }) =>
      acknowledgedAt !== null && (name !== 'score_update' || gains !== undefined),
  )
  const order = inTurn.toSorted((a, b) => (a.acknowledgedAt ?? 0) - (b.acknowledgedAt ?? 0))
  const expected = order.map(({ name, gains }) => `${name} ${canonical(gains ?? null)}`)
  const found = events
    .map(({ event_name: name, event_payload: payload }) => `${name} ${canonical(payload)}`)
    .filter((line) => expected.includes(line))
  return expected.join() === found.join() ? undefined : `lead ${lead.leadId}: ${found.join()}`
}

/** The same text for the same payload: PostgreSQL orders an object's keys. */
function canonical(payload: object | null): string {
  return JSON.stringify(
    payload && Object.fromEntries(Object.entries(payload).toSorted(([a], [b]) => a.localeCompare(b))),
  )
}

const toLine = ({ event_name: name, event_payload: payload, created_at: at }: View['events'][number]) =>
  `${name} ${canonical(payload as object | null)} ${at}`
