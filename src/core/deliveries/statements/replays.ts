import { sql as raw } from 'kysely'
import type { Sql } from '../../database/sql.ts'

export type ReplayedState = 'given_up' | 'delivered'

/** Which settled deliveries of a partner are sent once more; dates in ISO 8601. */
export interface ReplayFilter {
  partnerId: number
  states: ReplayedState[]
  /** Events from this date on. */
  since: string | null
  /** Events before this date; events have the dates of their lead's clock. */
  until: string | null
  /** Settled before this date: what is delivered during a replay is not part of it. */
  settledBefore: string
}

/** Where a replay stands: leads in the order of their ids, each lead's webhooks in their own. */
export interface ReplayCursor {
  leadId: number
  sequence: number
}

function matching(sql: Sql, { partnerId, states, since, until, settledBefore }: ReplayFilter) {
  return sql
    .selectFrom('leads')
    .innerJoin('deliveries', 'deliveries.lead_id', 'leads.id')
    .innerJoin('lead_events', 'lead_events.id', 'deliveries.event_id')
    .where('leads.partner_id', '=', partnerId)
    .where('leads.erased_at', 'is', null)
    .where('deliveries.state', 'in', states)
    .where('deliveries.settled_at', '<', raw<Date>`${settledBefore}::timestamptz`)
    .$if(until !== null, (query) =>
      query.where('lead_events.created_at', '<', raw<Date>`${until}::timestamptz`),
    )
    .$if(since !== null, (query) =>
      query.where('lead_events.created_at', '>=', raw<Date>`${since}::timestamptz`),
    )
}

/** The next webhooks of a replay. */
export async function replayPage(
  sql: Sql,
  filter: ReplayFilter,
  after: ReplayCursor,
  limit: number,
): Promise<ReplayCursor[]> {
  return matching(sql, filter)
    .select(['leads.id as leadId', 'deliveries.sequence'])
    .where('leads.id', '>=', after.leadId)
    .where(
      raw<boolean>`(deliveries.lead_id, deliveries.sequence) > (${after.leadId}::int, ${after.sequence}::int)`,
    )
    .orderBy('leads.id')
    .orderBy('deliveries.sequence')
    .limit(limit)
    .execute()
}

/** What a replay would send. */
export async function countReplay(sql: Sql, filter: ReplayFilter) {
  return matching(sql, filter)
    .select([
      raw<number>`count(*)::int`.as('webhooks'),
      raw<number>`count(distinct leads.id)::int`.as('leads'),
      raw<number>`(count(*) filter (where deliveries.state = 'given_up'))::int`.as('given_up'),
      raw<number>`(count(*) filter (where deliveries.state = 'delivered'))::int`.as('delivered'),
    ])
    .executeTakeFirstOrThrow()
}
