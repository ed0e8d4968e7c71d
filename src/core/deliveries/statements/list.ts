import { sql as raw } from 'kysely'
import type { MilestoneName } from '../../leads/decisions/milestones.ts'
import type { DeliveryStatus } from '../decisions/delivery.ts'
import { waitsFor } from './first-open.ts'
import { type DeliveryFilter, deliveryPage } from './page.ts'
import { isLeased } from './lease.ts'
import type { Sql } from '../../database/sql.ts'
import { countedOf } from './round.ts'

/** As it is shown: `held` while the endpoint is paused. */
export const shownState = raw<DeliveryStatus>`case
  when deliveries.state = 'pending' and endpoints.state = 'paused' then 'held' else deliveries.state
end`

/** Whether no attempt at a delivery is in flight, which would decide about the next. */
export const isAtRest = raw<boolean>`not ${isLeased}`

/** Why its next attempt cannot begin; `null` of one that waits for none. */
const openFault = raw<string | null>`case
  when deliveries.state = 'pending' then deliveries.fault
end`

const counted = countedOf('deliveries', 'endpoints')

/** In the lead's time, as its events are; `null` while an attempt is in flight. */
export const nextAttemptAt = raw<Date | null>`case when ${isAtRest}
  then ${counted.nextAttemptAt} + leads.clock_offset * interval '1 second'
end`

/** When a delivery is attempted next; `null` if it is held, settled, in flight, or waits for an earlier one of its lead. */
export function nextAttemptOf<Time>(row: {
  state: DeliveryStatus
  waits_for: unknown
  next_attempt_at: Time
}): Time | null {
  return row.state === 'pending' && row.waits_for === null ? row.next_attempt_at : null
}

/** Deliveries with their latest attempt, the newest first; of one lead for staff, in the order of their sequence. */
export async function findDeliveries(sql: Sql, filter: DeliveryFilter) {
  const deliveries = sql
    .selectFrom(deliveryPage(sql, filter).as('page'))
    .innerJoin('deliveries', 'deliveries.event_id', 'page.event_id')
    .innerJoin('lead_events', 'lead_events.id', 'deliveries.event_id')
    .innerJoin('leads', 'leads.id', 'deliveries.lead_id')
    .innerJoin('endpoints', 'endpoints.partner_id', 'deliveries.partner_id')
    .leftJoinLateral(
      (eb) =>
        eb
          .selectFrom('attempts')
          .select(['number', 'status', 'error_code', 'hint'])
          .whereRef('attempts.event_id', '=', 'deliveries.event_id')
          .orderBy('number', 'desc')
          .limit(1)
          .as('latest'),
      (join) => join.onTrue(),
    )
    .select(['deliveries.event_id', 'deliveries.lead_id', 'deliveries.partner_id', 'deliveries.sequence'])
    .select(['lead_events.event_name', 'lead_events.created_at', shownState.as('state')])
    .select([counted.failures.as('failures'), 'deliveries.settled_at', nextAttemptAt.as('next_attempt_at')])
    .select(['deliveries.body', openFault.as('fault')])
    .select(raw<boolean>`leads.erased_at is not null`.as('lead_erased'))
    .select(waitsFor.as('waits_for'))
    .select(['latest.number as attempts', 'latest.status as last_status'])
    .select(['latest.error_code as last_error_code', 'latest.hint as last_hint'])
    // a closing has no delivery
    .$narrowType<{ event_name: MilestoneName }>()
  return filter.leadId !== undefined && filter.before === undefined
    ? deliveries.orderBy('deliveries.sequence').execute()
    : deliveries.orderBy('deliveries.event_id', 'desc').execute()
}
