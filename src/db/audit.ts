import type { auditOutcomes } from './entities/audit-entry.ts'
import { jsonb } from './jsonb.ts'
import type { Sql } from './orm.ts'

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

/** Where somebody acts: the operating system's user and the host. */
export interface ActingFrom {
  osUser: string
  host: string
}

/**
 * To be the last that a transaction does: all rows of the audit are chained, so it locks the audit until the transaction ends.
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
      os_user: osUser,
      host,
      action,
      outcome,
      begun_id: begunId ?? null,
      partner_id: partnerId ?? null,
      lead_id: leadId ?? null,
      detail: jsonb(detail ?? null),
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
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
    .select(['os_user', 'host', 'database_user'])
  if (partner !== undefined) query = query.where('partner_id', '=', partner)
  if (lead !== undefined) query = query.where('lead_id', '=', lead)
  if (actor !== undefined) query = query.where('actor', '=', actor)
  if (action !== undefined) query = query.where('action', '=', action)
  if (since !== undefined) query = query.where('at', '>=', since)
  if (until !== undefined) query = query.where('at', '<', until)
  return query.orderBy('id', 'desc').limit(limit).execute()
}
