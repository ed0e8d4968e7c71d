import {
  furthest,
  type MilestoneName,
  milestoneNames,
  milestones,
} from '../../../src/core/leads/decisions/milestones.ts'
import { formatTimestamp } from '../../../src/core/values/timestamps.ts'
import type { Evidence, LeadJournal, ReadEvent, RecordedEvent } from '../evidence.ts'
import { factsOf } from '../facts.ts'
import { grouped, type Verdict, verdict } from './verdict.ts'

export function checkHistories({ leads, reads, views, record }: Evidence): Verdict[] {
  const recorded = grouped(record.events, ({ lead_id: leadId }) => leadId)
  const eventsOf = ({ leadId }: { leadId: number | null }) => recorded.get(leadId ?? 0) ?? []
  const known = leads.filter(({ leadId }) => leadId !== null)
  const facts = known.flatMap((lead) => Array.from(factsOf(lead), ([fact, sent]) => ({ lead, fact, sent })))
  return [
    verdict('every milestone is acknowledged in the end', facts, ({ lead, fact, sent }) => {
      const { acknowledgedAt, tries, lastError } = sent
      return acknowledgedAt === null && `lead ${lead.leadId}: ${fact} after ${tries} tries: ${lastError}`
    }),
    verdict('a lead begins with its only lead_received', known, (lead) => {
      const names = eventsOf(lead).map((event) => event.event_name)
      const isFirst = names.indexOf('lead_received') === 0 && names.lastIndexOf('lead_received') === 0
      return !isFirst && `lead ${lead.leadId}: ${names.join(', ')}`
    }),
    verdict('every acknowledged milestone is recorded once, and no other', known, (lead) =>
      unlikeSent(lead, eventsOf(lead)),
    ),
    verdict('milestones are recorded in the order in which they were acknowledged', known, (lead) =>
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
    verdict('get-events returns what is recorded', known, (lead) => {
      const shown = (views.get(lead.leadId ?? 0)?.events ?? []).map(toLine)
      return shown.join() !== eventsOf(lead).map(toWire).map(toLine).join() && `lead ${lead.leadId}`
    }),
    verdict('what was read earlier is how the history still begins', reads, ({ leadId, view }) => {
      const later = (views.get(leadId)?.events ?? []).map(toLine)
      return !view.events.map(toLine).every((line, index) => line === later[index]) && `lead ${leadId}`
    }),
    verdict('the status is the furthest milestone', known, (lead) => {
      const expected = eventsOf(lead).map(({ event_name: name }) => name as MilestoneName)
      const status = expected.filter((name) => milestones[name].status).reduce(furthest, 'lead_received')
      const shown = views.get(lead.leadId ?? 0)?.lead.status
      return shown !== status && `lead ${lead.leadId}: ${shown}, not ${status}`
    }),
    verdict(
      'the status never goes back',
      grouped(reads, ({ leadId }) => leadId),
      ([leadId, earlier]) => {
        const ranks = [
          ...earlier.map(({ view }) => view),
          ...(views.get(leadId) ? [views.get(leadId)!] : []),
        ].map(({ lead }) => milestoneNames.indexOf(lead.status as MilestoneName))
        return (
          ranks.some((rank, index) => rank < (ranks[index - 1] ?? 0)) && `lead ${leadId}: ${ranks.join(', ')}`
        )
      },
    ),
  ]
}

const answersOf = (leads: LeadJournal[]) =>
  leads.flatMap((lead) =>
    lead.milestones.flatMap(({ name, answers }) => answers.map((answer) => ({ lead, name, answer }))),
  )

/** How many events of each name there must be; and each payload that was sent, once. */
function unlikeSent(lead: LeadJournal, events: RecordedEvent[]): string | undefined {
  const facts = [...factsOf(lead).values()].filter(({ acknowledgedAt }) => acknowledgedAt !== null)
  const expected = ['lead_received', ...facts.map(({ name }) => name)].toSorted()
  const found = events.map((event) => event.event_name).toSorted()
  if (expected.join() !== found.join())
    return `lead ${lead.leadId}: ${found.join()} instead of ${expected.join()}`
  const payloads = events.map((event) => canonical(event.event_payload))
  const sent = facts.flatMap(({ gains }) => (gains === undefined ? [] : canonical(gains)))
  const missing = sent.find(
    (gains) => payloads.filter((payload) => payload === gains).length !== times(sent, gains),
  )
  if (missing !== undefined) return `lead ${lead.leadId}: gains ${missing} are not there as often as sent`
  const surplus = events.find(({ event_name: name, event_payload: payload }) => !fits(name, payload))
  return surplus && `lead ${lead.leadId}: ${surplus.event_name} with ${JSON.stringify(surplus.event_payload)}`
}

const times = (all: string[], one: string) => all.filter((each) => each === one).length

function fits(name: string, payload: unknown): boolean {
  const { payload: kind } = milestones[name as MilestoneName]
  if (kind === 'lead_received')
    return payload === null || Object.keys(payload as object).join() === 'partner_lead_id'
  return kind === 'score_update' ? payload !== null : payload === null
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

const toLine = ({ event_name: name, event_payload: payload, created_at: at }: ReadEvent) =>
  `${name} ${canonical(payload as object | null)} ${at}`

const toWire = (event: RecordedEvent): ReadEvent => ({
  ...event,
  created_at: formatTimestamp(event.created_at),
})
