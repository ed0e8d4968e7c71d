import { sql as raw } from 'kysely'
import type { MilestoneItem } from '../decisions/referral.ts'
import { compiledOnce } from '../../database/compiled-once.ts'
import type { Sql } from '../../database/sql.ts'
import { leadsNow } from './leads-now.ts'

/** Whether a row of `leads` takes no more milestones: it is closed or erased. */
export const takesNoMore = raw<boolean>`closed_at is not null or erased_at is not null`

const selectLead = compiledOnce<{ leadId: number; keys: string[] }>()((sql, value) =>
  sql
    .selectFrom('leads')
    .select(['id', 'partner_id as partnerId', 'partner_lead_id as partnerLeadId', 'status'])
    .select(['next_position as nextPosition', 'next_sequence as nextSequence', 'anchor_at as anchorAt'])
    .select(['clock_offset as clockOffset', 'last_event_at as lastEventAt'])
    .select(takesNoMore.as('isClosed'))
    .select(leadsNow.as('now'))
    .select(
      raw<Date | null>`case when status = 'mortgage_ready' then (
        select created_at from lead_events where lead_id = leads.id and dedupe_key = 'mortgage_ready'
      ) end`.as('readyAt'),
    )
    .select(
      raw<Record<string, string>>`(
        select coalesce(json_object_agg(dedupe_key, id), '{}') from lead_events
        where lead_id = leads.id and dedupe_key = any(${value('keys')})
      )`.as('known'),
    )
    .select(
      raw<boolean>`next_position = 1 + (select max(position) from lead_events where lead_id = leads.id)`.as(
        'isConsistent',
      ),
    )
    .where('id', '=', value('leadId'))
    .forUpdate(),
)

/**
 * Locks a lead and reads what is known of it. After a wait for the lock PostgreSQL answers with the row as it is by then
 * and with its events as they were before the wait: then both are read once more.
 */
export async function lockLead(
  trx: Sql,
  leadId: number,
  items: readonly MilestoneItem[],
): Promise<LockedLead | undefined> {
  const values = { leadId, keys: items.map((item) => item.dedupeKey) }
  const [lead] = await selectLead(trx, values)
  if (lead === undefined || lead.isConsistent) return lead
  const [read] = await selectLead(trx, values)
  return read
}

export type LockedLead = Awaited<ReturnType<typeof selectLead>>[number]
