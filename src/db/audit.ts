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

/** @returns the row's id. */
export async function recordAudit(
  sql: Sql,
  actor: string,
  { action, outcome, begunId, partnerId, leadId, detail }: AuditRow,
): Promise<number> {
  const { id } = await sql
    .insertInto('audit')
    .values({
      actor,
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
