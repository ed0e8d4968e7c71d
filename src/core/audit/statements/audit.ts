import type { auditOutcomes } from '../tables/audit-entry.ts'
import { jsonb } from '../../database/jsonb.ts'
import type { Sql } from '../../database/sql.ts'
import { pages } from '../../database/pages.ts'

/** An action by staff, or by a partner on its own endpoint. `detail` holds ids, settings and counts, never secrets or personal data. */
export interface AuditedAction {
  action: string
  partnerId?: number
  leadId?: number
  detail?: Record<string, unknown>
}

interface AuditRow extends AuditedAction {
  outcome: (typeof auditOutcomes)[number]
  /** The `begun` row whose result this row reports. */
  begunId?: number
}

/** From where a person acts: the operating system's user and the host. */
export interface ActingFrom {
  osUser: string
  host: string
}

/**
 * Adds a row to the audit, in the transaction of what it is about.
 *
 * @param actor who acts; staff with where they act from.
 * @returns the row's id.
 */
export async function recordAudit(
  sql: Sql,
  actor: string | ({ name: string } & ActingFrom),
  { action, outcome, begunId, partnerId, leadId, detail }: AuditRow,
): Promise<number> {
  const { name, osUser, host } = typeof actor === 'string' ? { name: actor, osUser: null, host: null } : actor
  const { id } = await sql
    .insertInto('audit')
    .values({
      actor: name,
      action,
      outcome,
      begun_id: begunId ?? null,
      partner_id: partnerId ?? null,
      lead_id: leadId ?? null,
      detail: jsonb(detail ?? null),
      os_user: osUser,
      host,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

const columns = [
  'id',
  'at',
  'actor',
  'action',
  'outcome',
  'begun_id',
  'partner_id',
  'lead_id',
  'detail',
  'os_user',
  'host',
  'database_user',
] as const

export interface AuditFilter {
  partner?: number
  lead?: number
  actor?: string
  action?: string
  since?: Date
  until?: Date
  limit: number
}

/** Rows of the audit, newest first. */
export async function findAudit(sql: Sql, filter: AuditFilter) {
  const { partner, lead, actor, action, since, until, limit } = filter
  let query = sql.selectFrom('audit').select(columns)
  if (partner !== undefined) query = query.where('partner_id', '=', partner)
  if (lead !== undefined) query = query.where('lead_id', '=', lead)
  if (actor !== undefined) query = query.where('actor', '=', actor)
  if (action !== undefined) query = query.where('action', '=', action)
  if (since !== undefined) query = query.where('at', '>=', since)
  if (until !== undefined) query = query.where('at', '<', until)
  return query.orderBy('id', 'desc').limit(limit).execute()
}

/** Rows in memory at a time. */
const PAGE = 1000

/** All rows of a time, oldest first, read in pages. */
export async function* auditRows(sql: Sql, { since, until }: Pick<AuditFilter, 'since' | 'until'>) {
  let rows = sql.selectFrom('audit').select(columns)
  if (since !== undefined) rows = rows.where('at', '>=', since)
  if (until !== undefined) rows = rows.where('at', '<', until)
  const read = (after: number, limit: number) =>
    rows.where('id', '>', after).orderBy('id').limit(limit).execute()
  for await (const page of pages(PAGE, 0, read, ({ id }) => id)) yield* page
}
