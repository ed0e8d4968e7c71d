import { sql as raw } from 'kysely'
import type { MilestoneName } from '../decisions/milestones.ts'
import type { Sql } from '../../database/sql.ts'

/** A lead that needs a running workflow. */
export interface OpenLead {
  id: number
  status: MilestoneName
  /** Whether a webhook is still to be sent. */
  isSending: boolean
  /** Whether the record was restored since its workflow read it. */
  isUnread: boolean
  /** Whether its workflow was just started, and has not told of itself yet. */
  isNew: boolean
}

/**
 * Open leads by id: not closed, or with webhooks still to be sent. Webhooks held by a paused endpoint don't count:
 * a resume starts their leads' workflows.
 */
export async function openLeads(sql: Sql, afterId: number, limit: number): Promise<OpenLead[]> {
  return openOnes(sql).where('leads.id', '>', afterId).orderBy('leads.id').limit(limit).execute()
}

/** The open leads among `ids`. */
export async function openAmong(sql: Sql, ids: readonly number[]): Promise<OpenLead[]> {
  return ids.length === 0 ? [] : openOnes(sql).where('leads.id', 'in', ids).execute()
}

/** Whether the record was restored, and workflows are still to read it. */
export async function hasUnread(sql: Sql): Promise<boolean> {
  const [unread] = await openOnes(sql).where('leads.restored_at', 'is not', null).limit(1).execute()
  return unread !== undefined
}

function openOnes(sql: Sql) {
  return sql
    .selectFrom('leads')
    .select(['leads.id', 'leads.status'])
    .select(raw<boolean>`leads.restored_at is not null`.as('isUnread'))
    .select(
      raw<boolean>`coalesce(workflow_started_at > clock_timestamp() - interval '1 minute', true)`.as('isNew'),
    )
    .select(
      raw<boolean>`exists (select from deliveries where lead_id = leads.id and state = 'pending')`.as(
        'isSending',
      ),
    )
    .where((eb) =>
      eb.or([
        eb.and([eb('leads.closed_at', 'is', null), eb('leads.erased_at', 'is', null)]),
        eb.exists(
          eb
            .selectFrom('deliveries')
            .innerJoin('endpoints', 'endpoints.partner_id', 'deliveries.partner_id')
            .select(raw`1`.as('one'))
            .whereRef('deliveries.lead_id', '=', 'leads.id')
            .where('deliveries.state', '=', 'pending')
            .where('endpoints.state', '!=', 'paused'),
        ),
      ]),
    )
}
