import { jsonb } from './jsonb.ts'
import type { Sql } from './orm.ts'

/** What somebody of the staff did. `detail` holds ids and settings, never secrets or personal data. */
export interface AuditedAction {
  action: string
  partnerId?: number
  leadId?: number
  detail?: Record<string, unknown>
}

export async function recordAudit(
  trx: Sql,
  actor: string,
  { action, partnerId = null, leadId = null, detail = null }: Nullable<AuditedAction>,
): Promise<void> {
  await trx
    .insertInto('audit')
    .values({ actor, action, partner_id: partnerId, lead_id: leadId, detail: jsonb(detail) })
    .execute()
}

type Nullable<Fields> = { [Name in keyof Fields]: Fields[Name] | null } & { action: string }
