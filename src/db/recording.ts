import { sql as raw } from 'kysely'
import { type EventPayload, takesPayload } from '../domain/event-payloads.ts'
import { furthest, milestones } from '../domain/milestones.ts'
import type { MilestoneItem, RecordedItem, Recording, RecordingOutcome } from '../domain/referral.ts'
import { LATE_FACTS_MS } from '../domain/score-dates.ts'
import { jsonb } from './jsonb.ts'
import { newEventId, type WebhookBody } from './new-lead.ts'
import type { Sql } from './orm.ts'

interface NewEvent extends MilestoneItem {
  eventId: string
  position: number
  sequence: number | undefined
  payload: EventPayload
}

/**
 * Records milestones of a lead: events, status, positions, sequences and deliveries in one transaction.
 * Repeated with the same items it changes nothing and answers the same.
 *
 * Begins with the lead's row lock, so that events get their positions, and transactions their ids, in the
 * order in which they become visible.
 *
 * @returns `undefined` when there is no such lead.
 */
export async function recordMilestones(
  sql: Sql,
  leadId: number,
  items: readonly MilestoneItem[],
  toBody: WebhookBody,
): Promise<Recording | undefined> {
  return sql.transaction().execute(async (trx) => {
    const lead = await lockLead(trx, leadId)
    if (lead === undefined) return undefined
    const known = await knownEvents(trx, leadId, items)
    const fresh: NewEvent[] = []
    const outcomes = items.map((item): RecordedItem => {
      const before = known.get(item.dedupeKey)
      if (before !== undefined) return { outcome: 'repeated', eventId: before }
      const outcome = admit(lead, item)
      if (outcome !== 'recorded') return { outcome }
      const event = place(lead, item)
      known.set(item.dedupeKey, event.eventId)
      fresh.push(event)
      return { outcome, eventId: event.eventId, ...(event.sequence && { sequence: event.sequence }) }
    })
    if (fresh.length > 0) await append(trx, lead, fresh, toBody)
    return { outcomes, ...(await standing(trx, lead)) }
  })
}

/** Gives an event its place in the lead's history, and among its webhooks if it is one. */
function place(lead: LockedLead, item: MilestoneItem): NewEvent {
  const { name } = item
  lead.status = furthest(lead.status, name)
  lead.last_event_at = lead.now
  if (name === 'escrow_funded') lead.anchor_at = lead.now
  const sequence = milestones[name].webhook ? lead.next_sequence++ : undefined
  const payload = takesPayload(name) ? (item.gains ?? null) : null
  return { ...item, eventId: newEventId(), position: lead.next_position++, sequence, payload }
}

async function lockLead(trx: Sql, leadId: number) {
  return trx
    .selectFrom('leads')
    .select([
      'id',
      'partner_id',
      'partner_lead_id',
      'status',
      'next_position',
      'next_sequence',
      'anchor_at',
      'clock_offset',
      'closed_at',
      'erased_at',
      'last_event_at',
    ])
    .select(
      raw<Date>`greatest(clock_timestamp() + clock_offset * interval '1 second', last_event_at)`.as('now'),
    )
    .where('id', '=', leadId)
    .forUpdate()
    .executeTakeFirst()
}

type LockedLead = NonNullable<Awaited<ReturnType<typeof lockLead>>>

async function knownEvents(
  trx: Sql,
  leadId: number,
  items: readonly MilestoneItem[],
): Promise<Map<string, string>> {
  if (items.length === 0) return new Map()
  const rows = await trx
    .selectFrom('lead_events')
    .select(['dedupe_key', 'id'])
    .where('lead_id', '=', leadId)
    .where(
      'dedupe_key',
      'in',
      items.map((item) => item.dedupeKey),
    )
    .execute()
  return new Map(rows.map((row) => [row.dedupe_key, row.id]))
}

/** The timer's score updates end with the journey; one that somebody signalled is a fact all the same. */
function admit(lead: LockedLead, item: MilestoneItem): RecordingOutcome {
  if (lead.closed_at !== null || lead.erased_at !== null) return 'closed'
  const timed = item.dedupeKey.startsWith('score_update#')
  return timed && lead.status === 'mortgage_ready' ? 'mortgage_ready' : 'recorded'
}

/** One statement for all of it: each one more is a way to PostgreSQL and back while the lead is locked. */
async function append(trx: Sql, lead: LockedLead, events: NewEvent[], toBody: WebhookBody): Promise<void> {
  const ids = { lead_id: lead.id, partner_id: lead.partner_id }
  const facts = { createdAt: lead.now, leadId: lead.id, partnerLeadId: lead.partner_lead_id }
  const rows = events.map((event) => ({
    ...ids,
    id: event.eventId,
    position: event.position,
    event_name: event.name,
    event_payload: jsonb(event.payload),
    dedupe_key: event.dedupeKey,
    created_at: lead.now,
  }))
  const deliveries = events.flatMap(({ eventId, name: eventName, payload: eventPayload, sequence }) => {
    if (sequence === undefined) return []
    const body = toBody({ ...facts, eventId, eventName, eventPayload, sequence })
    return { ...ids, event_id: eventId, sequence, body, next_attempt_at: raw<Date>`clock_timestamp()` }
  })
  const recorded = trx.with('recorded', (cte) => cte.insertInto('lead_events').values(rows))
  const queued =
    deliveries.length === 0
      ? recorded
      : (recorded.with('queued', (cte) => cte.insertInto('deliveries').values(deliveries)) as typeof recorded)
  const { status, next_position, next_sequence, anchor_at, last_event_at } = lead
  await queued
    .updateTable('leads')
    .set({ status, next_position, next_sequence, anchor_at, last_event_at })
    .set({ updated_at: raw<Date>`clock_timestamp()` })
    .where('id', '=', lead.id)
    .execute()
}

async function standing(trx: Sql, lead: LockedLead): Promise<Omit<Recording, 'outcomes'>> {
  return {
    status: lead.status,
    anchor: lead.anchor_at?.getTime() ?? null,
    endsAt: lead.status === 'mortgage_ready' ? await endOf(trx, lead.id) : null,
    offset: lead.clock_offset * 1000,
    last: lead.next_sequence - 1,
    lastEventAt: lead.last_event_at.getTime(),
    closed: lead.closed_at !== null || lead.erased_at !== null,
  }
}

async function endOf(trx: Sql, leadId: number): Promise<number> {
  const { created_at: readyAt } = await trx
    .selectFrom('lead_events')
    .select('created_at')
    .where('lead_id', '=', leadId)
    .where('dedupe_key', '=', 'mortgage_ready')
    .executeTakeFirstOrThrow()
  return readyAt.getTime() + LATE_FACTS_MS
}
