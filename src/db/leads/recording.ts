import { sql as raw } from 'kysely'
import { decideMilestones, type RecordingDecision } from '../../domain/recording-decision.ts'
import type { MilestoneItem, Recording } from '../../domain/referral.ts'
import { LATE_FACTS_MS } from '../../domain/score-dates.ts'
import { jsonb } from '../jsonb.ts'
import { newEventId, type WebhookBody } from './new-lead.ts'
import type { Sql } from '../orm.ts'

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
    const decision = decideMilestones(lead, known, items, { now: lead.now, newEventId })
    if (decision.events.length > 0) await append(trx, lead, decision, toBody)
    return answerOf(lead, decision)
  })
}

async function lockLead(trx: Sql, leadId: number) {
  return trx
    .selectFrom('leads')
    .select(['id', 'partner_id as partnerId', 'partner_lead_id as partnerLeadId', 'status'])
    .select(['next_position as nextPosition', 'next_sequence as nextSequence', 'anchor_at as anchorAt'])
    .select(['clock_offset as clockOffset', 'last_event_at as lastEventAt'])
    .select(raw<boolean>`closed_at is not null or erased_at is not null`.as('isClosed'))
    .select(raw<Date>`clock_timestamp() + clock_offset * interval '1 second'`.as('now'))
    .select(
      raw<Date | null>`case when status = 'mortgage_ready' then (
        select created_at from lead_events where lead_id = leads.id and dedupe_key = 'mortgage_ready'
      ) end`.as('readyAt'),
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

/** One statement for all of it: each one more is a way to PostgreSQL and back while the lead is locked. */
async function append(
  trx: Sql,
  { id: leadId, partnerId, partnerLeadId }: LockedLead,
  { events, lead }: RecordingDecision,
  toBody: WebhookBody,
): Promise<void> {
  const ids = { lead_id: leadId, partner_id: partnerId }
  const rows = events.map((event) => ({
    ...ids,
    id: event.eventId,
    position: event.position,
    event_name: event.name,
    event_payload: jsonb(event.payload),
    dedupe_key: event.dedupeKey,
    created_at: event.createdAt,
  }))
  const deliveries = events.flatMap(({ eventId, name, payload, createdAt, sequence }) => {
    if (sequence === undefined) return []
    const facts = { eventId, eventName: name, eventPayload: payload, createdAt, sequence }
    const body = toBody({ ...facts, leadId, partnerLeadId })
    return { ...ids, event_id: eventId, sequence, body, next_attempt_at: raw<Date>`clock_timestamp()` }
  })
  const recorded = trx.with('recorded', (cte) => cte.insertInto('lead_events').values(rows))
  const queued =
    deliveries.length === 0
      ? recorded
      : (recorded.with('queued', (cte) => cte.insertInto('deliveries').values(deliveries)) as typeof recorded)
  await queued
    .updateTable('leads')
    .set({
      status: lead.status,
      next_position: lead.nextPosition,
      next_sequence: lead.nextSequence,
      anchor_at: lead.anchorAt,
      last_event_at: lead.lastEventAt,
      updated_at: raw<Date>`clock_timestamp()`,
    })
    .where('id', '=', leadId)
    .execute()
}

function answerOf({ clockOffset, isClosed }: LockedLead, { outcomes, lead }: RecordingDecision): Recording {
  return {
    outcomes,
    status: lead.status,
    anchor: lead.anchorAt?.getTime() ?? null,
    endsAt: lead.readyAt === null ? null : lead.readyAt.getTime() + LATE_FACTS_MS,
    offset: clockOffset * 1000,
    last: lead.nextSequence - 1,
    lastEventAt: lead.lastEventAt.getTime(),
    closed: isClosed,
  }
}
