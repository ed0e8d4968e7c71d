import { sql as raw } from 'kysely'
import { waitsFor } from '../deliveries/first-open.ts'
import { nextAttemptAt, shownState } from '../deliveries/list.ts'
import type { Sql } from '../orm.ts'
import { pages } from '../pages.ts'

/** What is kept of a lead in other tables, page by page: each page is a statement of its own, so none takes long. */

const EVENTS = 1000
/** With their bodies, and all of their attempts. */
const DELIVERIES = 25
const READS = 1000
const ACTIONS = 1000

export function eventsOf(sql: Sql, leadId: number) {
  const read = (after: number, limit: number) =>
    sql
      .selectFrom('lead_events')
      .select(['position', 'id as event_id', 'event_name', 'event_payload', 'created_at'])
      .where('lead_id', '=', leadId)
      .where('position', '>', after)
      .orderBy('position')
      .limit(limit)
      .execute()
  return pages(EVENTS, 0, read, ({ position }) => position)
}

export function deliveriesOf(sql: Sql, leadId: number) {
  const read = async (after: number, limit: number) => {
    const deliveries = await sql
      .selectFrom('deliveries')
      .innerJoin('endpoints', 'endpoints.partner_id', 'deliveries.partner_id')
      .innerJoin('leads', 'leads.id', 'deliveries.lead_id')
      .select(['sequence', 'event_id', shownState.as('state'), 'body'])
      .select([nextAttemptAt.as('next_attempt_at'), 'settled_at', 'resend_requested_at'])
      .select(waitsFor.as('waits_for'))
      .where('lead_id', '=', leadId)
      .where('sequence', '>', after)
      .orderBy('sequence')
      .limit(limit)
      .execute()
    const attempts = await attemptsOf(
      sql,
      deliveries.map(({ event_id: id }) => id),
    )
    return deliveries.map((row) => ({ ...row, attempts: attempts.get(row.event_id) ?? [] }))
  }
  return pages(DELIVERIES, 0, read, ({ sequence }) => sequence)
}

async function attemptsOf(sql: Sql, eventIds: string[]) {
  if (eventIds.length === 0) return new Map<string, never>()
  const rows = await sql
    .selectFrom('attempts')
    .select(['event_id', 'number', 'trigger', 'started_at', 'finished_at', 'duration_ms', 'address'])
    .select(['status', 'error_code', 'hint', 'response_headers', 'response_body'])
    .where('event_id', 'in', eventIds)
    .orderBy('number')
    .execute()
  return Map.groupBy(rows, (row) => row.event_id)
}

export function readsOf(sql: Sql, leadId: number) {
  const read = ({ at, id }: { at: Date | string; id: string }, limit: number) =>
    sql
      .selectFrom('personal_reads')
      .select(['at', 'what', 'key_id', 'staff', 'os_user', raw<string>`id::text`.as('id')])
      .select(raw<string>`at::text`.as('exact_at'))
      .where('lead_id', '=', leadId)
      .where(raw<boolean>`(at, id) > (${at}::timestamptz, ${id}::bigint)`)
      .orderBy('at')
      .orderBy(raw`personal_reads.id`)
      .limit(limit)
      .execute()
  return pages(READS, { at: '-infinity', id: '0' }, read, (row) => ({ at: row.exact_at, id: row.id }))
}

export function actionsOn(sql: Sql, leadId: number) {
  const read = (after: number, limit: number) =>
    sql
      .selectFrom('audit')
      .select(['id', 'at', 'actor', 'action', 'outcome', 'detail'])
      .where('lead_id', '=', leadId)
      .where('id', '>', after)
      .orderBy('id')
      .limit(limit)
      .execute()
  return pages(ACTIONS, 0, read, ({ id }) => id)
}

/** The keys with which the lead was created, those that are still kept. */
export async function idempotencyKeysOf(sql: Sql, partnerId: number, leadId: number) {
  return sql
    .selectFrom('idempotency_keys')
    .select(['key', 'created_at'])
    .where('partner_id', '=', partnerId)
    .where('lead_id', '=', leadId)
    .execute()
}
