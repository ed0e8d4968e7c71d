import type { auditOutcomes } from '../tables/audit-entry.ts'
import { sql as raw } from 'kysely'
import { jsonb } from '../../database/jsonb.ts'
import type { Sql } from '../../database/orm.ts'

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
 * To be the last that a transaction does: all rows of the audit are chained, so it locks the audit until the transaction ends.
 *
 * @param actor who acts; staff with where they act from. Of staff with a login of their own, PostgreSQL takes the login, and
 *   keeps this name beside it.
 * @returns the row's id.
 */
export async function recordAudit(
  sql: Sql,
  actor: string | ({ name: string } & ActingFrom),
  { action, outcome, begunId, partnerId, leadId, detail }: AuditRow,
): Promise<number> {
  const { name, osUser, host } = typeof actor === 'string' ? { name: actor, osUser: null, host: null } : actor
  const { rows } = await raw<{ id: number }>`
    select write_audit(${name}, ${action}, ${outcome}, ${begunId ?? null}, ${partnerId ?? null}, ${leadId ?? null},
      ${jsonb(detail ?? null)}, ${osUser}, ${host}) as id`.execute(sql)
  if (rows[0] === undefined) throw new Error('the audit answered no id')
  return rows[0].id
}

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
  let query = sql
    .selectFrom('audit')
    .select(['id', 'at', 'actor', 'action', 'outcome', 'begun_id', 'partner_id', 'lead_id', 'detail'])
    .select(['os_user', 'host', 'database_user', 'staff_name'])
  if (partner !== undefined) query = query.where('partner_id', '=', partner)
  if (lead !== undefined) query = query.where('lead_id', '=', lead)
  if (actor !== undefined) query = query.where('actor', '=', actor)
  if (action !== undefined) query = query.where('action', '=', action)
  if (since !== undefined) query = query.where('at', '>=', since)
  if (until !== undefined) query = query.where('at', '<', until)
  return query.orderBy('id', 'desc').limit(limit).execute()
}
