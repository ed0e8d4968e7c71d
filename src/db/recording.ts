import { sql as raw } from 'kysely'
import { takesPayload } from '../domain/event-payloads.ts'
import { furthest, milestones } from '../domain/milestones.ts'
import type { MilestoneItem, Recording, RecordingOutcome } from '../domain/referral.ts'
import { LATE_FACTS_MS } from '../domain/score-dates.ts'
import { jsonb } from './jsonb.ts'
import { newEventId, type WebhookBody } from './new-lead.ts'
import type { Sql } from './orm.ts'

interface RecordedEvent extends MilestoneItem {
  eventId: string
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
    const outcomes: Recording['outcomes'] = []
    const fresh: RecordedEvent[] = []
    for (const item of items) {
      const { dedupeKey } = item
      const before = known.get(dedupeKey)
      const outcome = before === undefined ? admit(lead, item) : 'repeated'
      const eventId = before ?? (outcome === 'recorded' ? newEventId() : undefined)
      outcomes.push({ dedupeKey, outcome, ...(eventId && { eventId }) })
      if (outcome !== 'recorded' || eventId === undefined) continue
      known.set(dedupeKey, eventId)
      fresh.push({ ...item, eventId })
      lead.status = furthest(lead.status, item.name)
    }
    if (fresh.length > 0) await append(trx, lead, fresh, toBody)
    return { outcomes, ...(await standing(trx, lead)) }
  })
}

async function lockLead(trx: Sql, leadId: number) {
  return trx
    .selectFrom('leads')
    .select([
      'id', 'partner_id', 'partner_lead_id', 'status', 'next_position', 'next_sequence', 'anchor_at',
      'clock_offset', 'closed_at', 'erased_at',
    ])
    .select(raw<Date>`greatest(clock_timestamp() + clock_offset * interval '1 second', last_event_at)`.as('now'))
    .where('id', '=', leadId)
    .forUpdate()
    .executeTakeFirst()
}

type LockedLead = NonNullable<Awaited<ReturnType<typeof lockLead>>>

async function knownEvents(trx: Sql, leadId: number, items: readonly MilestoneItem[]): Promise<Map<string, string>> {
  if (items.length === 0) return new Map()
  const rows = await trx
    .selectFrom('lead_events')
    .select(['dedupe_key', 'id'])
    .where('lead_id', '=', leadId)
    .where('dedupe_key', 'in', items.map((item) => item.dedupeKey))
    .execute()
  return new Map(rows.map((row) => [row.dedupe_key, row.id]))
}

/** The timer's score updates end with the journey; one that somebody signalled is a fact all the same. */
function admit(lead: LockedLead, item: MilestoneItem): RecordingOutcome {
  if (lead.closed_at !== null || lead.erased_at !== null) return 'closed'
  const timed = item.dedupeKey.startsWith('score_update#')
  return timed && lead.status === 'mortgage_ready' ? 'mortgage_ready' : 'recorded'
}

async function append(trx: Sql, lead: LockedLead, events: RecordedEvent[], toBody: WebhookBody): Promise<void> {
  const ids = { lead_id: lead.id, partner_id: lead.partner_id }
  const createdAt = lead.now
  const rows = events.map((event) => ({
    ...ids,
    id: event.eventId,
    position: lead.next_position++,
    event_name: event.name,
    event_payload: payloadOf(event),
    dedupe_key: event.dedupeKey,
    created_at: createdAt,
  }))
  const deliveries = events
    .filter((event) => milestones[event.name].webhook)
    .map((event) => {
      const sequence = lead.next_sequence++
      const { eventId, name: eventName } = event
      const facts = { eventId, eventName, eventPayload: payloadOf(event), createdAt, sequence }
      const body = toBody({ ...facts, leadId: lead.id, partnerLeadId: lead.partner_lead_id })
      return { ...ids, event_id: eventId, sequence, body, next_attempt_at: raw<Date>`clock_timestamp()` }
    })
  if (events.some((event) => event.name === 'escrow_funded')) lead.anchor_at = createdAt
  await trx
    .insertInto('lead_events')
    .values(rows.map((row) => ({ ...row, event_payload: jsonb(row.event_payload) })))
    .execute()
  if (deliveries.length > 0) await trx.insertInto('deliveries').values(deliveries).execute()
  await trx
    .updateTable('leads')
    .set({
      status: lead.status,
      next_position: lead.next_position,
      next_sequence: lead.next_sequence,
      last_event_at: createdAt,
      anchor_at: lead.anchor_at,
      updated_at: raw`clock_timestamp()`,
    })
    .where('id', '=', lead.id)
    .execute()
}

function payloadOf(event: RecordedEvent) {
  return takesPayload(event.name) ? (event.gains ?? null) : null
}

async function standing(trx: Sql, lead: LockedLead): Promise<Omit<Recording, 'outcomes'>> {
  return {
    status: lead.status,
    anchor: lead.anchor_at?.getTime() ?? null,
    endsAt: lead.status === 'mortgage_ready' ? await endOf(trx, lead.id) : null,
    offset: lead.clock_offset * 1000,
    last: lead.next_sequence - 1,
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
