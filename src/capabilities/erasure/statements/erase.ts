import { sql as raw } from 'kysely'
import { recordAudit } from '../../../core/audit/statements/audit.ts'
import { inTransaction } from '../../../core/database/in-transaction.ts'
import type { Sql } from '../../../core/database/sql.ts'
import type { AnyErasureReason } from '../../../core/leads/decisions/reasons.ts'
import { emptyLeads } from './empty.ts'
import { logErased } from './erasure-log.ts'

export interface Erasing {
  /** Who erases, as the audit takes them. */
  by: Parameters<typeof recordAudit>[1]
  reason: AnyErasureReason | null
  /** A case number of staff's. */
  reference?: string | undefined
  /** After how many days retention erases them. */
  retentionDays?: number
  /** Only this partner's. */
  partnerId?: number
  /** The erasure log; absent in a sandbox without one, and for leads that are in it already. */
  logFile?: string | undefined
  /** Is called before the audit's row is written. */
  keep?: () => Promise<void>
}

/**
 * Erases leads for good, and answers which: not those that are held, or erased already. One transaction; its lines in the
 * erasure log are written before it commits, so that no committed erasure lacks its line.
 *
 * @throws what the file system says of the erasure log: nothing is erased then.
 */
export async function eraseLeads(sql: Sql, leadIds: readonly number[], erasing: Erasing): Promise<number[]> {
  if (leadIds.length === 0) return []
  const { logFile, keep } = erasing
  return inTransaction(sql, async (trx) => {
    const leads = await lockLeads(trx, leadIds, erasing.partnerId)
    if (leads.length === 0) return []
    const ids = leads.map(({ id }) => id)
    await emptyLeads(trx, ids)
    if (logFile !== undefined) {
      const { id: deployment } = await trx.selectFrom('deployment').select('id').executeTakeFirstOrThrow()
      await logErased(
        logFile,
        leads.map(({ id, event_id }) => ({ deployment, lead_id: id, event_id })),
      )
    }
    await keep?.()
    await audit(trx, leads, erasing)
    return ids
  })
}

async function lockLeads(trx: Sql, leadIds: readonly number[], partnerId: number | undefined) {
  return trx
    .selectFrom('leads')
    .select(['id', 'partner_id'])
    .select(
      raw<string>`(select id from lead_events where lead_id = leads.id and position = 1)`.as('event_id'),
    )
    .where('id', 'in', leadIds)
    .$if(partnerId !== undefined, (query) => query.where('partner_id', '=', partnerId ?? 0))
    .where('erased_at', 'is', null)
    .where('held_at', 'is', null)
    .orderBy('id')
    .forUpdate()
    .execute()
}

/** One row for all: a batch of retention's is one action. */
async function audit(
  trx: Sql,
  leads: readonly { id: number; partner_id: number }[],
  { by, reason, reference, retentionDays }: Erasing,
): Promise<void> {
  const [first, ...others] = leads
  if (first === undefined) return
  const isOne = others.length === 0
  await recordAudit(trx, by, {
    action: isOne ? 'lead.erase' : 'leads.erase',
    outcome: 'done',
    ...(isOne && { partnerId: first.partner_id, leadId: first.id }),
    detail: {
      reason,
      ...(reference !== undefined && { reference }),
      ...(retentionDays !== undefined && { retention_days: retentionDays }),
      ...(!isOne && { lead_ids: leads.map(({ id }) => id) }),
    },
  })
}
