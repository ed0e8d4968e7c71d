import { sql as raw } from 'kysely'
import { isFirstOpen } from '../../deliveries/statements/first-open.ts'
import { isLeased } from '../../deliveries/statements/lease.ts'
import { countedOf } from '../../deliveries/statements/round.ts'
import type { Sql } from '../../database/sql.ts'

/** Longer than a webhook of a running workflow waits for its turn, unless its partner has a flood of them. */
const OVERDUE = raw`clock_timestamp() - interval '2 minutes'`
/** Of each partner, so that the flood of one hides no lead of another. */
const MOST_OF_A_PARTNER = 20

/**
 * Leads whose workflow should have sent a webhook some time ago: the lead's first open one is due, its endpoint takes
 * webhooks, and nobody is sending it. The longest overdue first, a few of each partner.
 */
export async function overdueLeads(sql: Sql): Promise<number[]> {
  const { rows } = await raw<{ leadId: number }>`
    select overdue.lead_id as "leadId"
    from endpoints e cross join lateral (
      select d.lead_id
      from deliveries d join leads l on l.id = d.lead_id
      where d.partner_id = e.partner_id and d.state = 'pending' and ${countedOf('d', 'e').nextAttemptAt} <= ${OVERDUE}
        and not ${isLeased}
        and l.workflow_started_at is not null
        and ${isFirstOpen}
      order by d.next_attempt_at
      limit ${MOST_OF_A_PARTNER}
    ) overdue
    where e.state = 'active'`.execute(sql)
  return rows.map(({ leadId }) => leadId)
}
