import { sql as raw } from 'kysely'
import type { MilestoneName } from '../../domain/milestones.ts'
import type { Sql } from '../orm.ts'

/** A lead that must have a running workflow, by the record. */
export interface OpenLead {
  id: number
  status: MilestoneName
}

/**
 * Leads that are not over, by id: not closed, or with webhooks that are still to go out. What waits for a
 * paused endpoint needs no workflow until the endpoint is resumed, which starts it.
 */
export async function openLeads(sql: Sql, afterId: number, limit: number): Promise<OpenLead[]> {
  return openOnes(sql).where('leads.id', '>', afterId).orderBy('leads.id').limit(limit).execute()
}

/** Those of `ids` that are not over. */
export async function openAmong(sql: Sql, ids: readonly number[]): Promise<OpenLead[]> {
  return ids.length === 0 ? [] : openOnes(sql).where('leads.id', 'in', ids).execute()
}

function openOnes(sql: Sql) {
  return sql
    .selectFrom('leads')
    .select(['leads.id', 'leads.status'])
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
