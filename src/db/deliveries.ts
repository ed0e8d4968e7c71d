import { sql as raw } from 'kysely'
import { deliveryStates } from './entities/delivery.ts'
import type { Sql } from './orm.ts'

/** A delivery's state in people's words: `held` is open while its endpoint is paused. */
export const deliveryStatuses = [...deliveryStates, 'held'] as const
export type DeliveryStatus = (typeof deliveryStatuses)[number]

interface DeliveryFilter {
  partnerId?: number
  leadId?: number
  states?: readonly DeliveryStatus[]
  /** Events recorded from then on, and before then. */
  since?: Date
  until?: Date
  /** Only those older than this event. */
  before?: string
  limit: number
}

const status = raw<DeliveryStatus>`case
  when deliveries.state = 'pending' and endpoints.state = 'paused' then 'held' else deliveries.state
end`

/** Deliveries with their latest attempt, the newest first; of one lead for staff, in the order of their sequence. */
export async function findDeliveries(sql: Sql, filter: DeliveryFilter) {
  const { leadId, before, limit } = filter
  const deliveries = matching(sql, filter)
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
    .select(['lead_events.event_name', 'lead_events.created_at', status.as('state')])
    .select(['deliveries.failures', 'deliveries.next_attempt_at', 'deliveries.settled_at'])
    .select(['latest.number as attempts', 'latest.status as last_status'])
    .select(['latest.error_code as last_error_code', 'latest.hint as last_hint'])
    .limit(limit)
  return leadId === undefined || before !== undefined
    ? deliveries.orderBy('deliveries.event_id', 'desc').execute()
    : deliveries.orderBy('deliveries.sequence').execute()
}

function matching(sql: Sql, { partnerId, leadId, states, since, until, before }: DeliveryFilter) {
  return sql
    .selectFrom('deliveries')
    .innerJoin('lead_events', 'lead_events.id', 'deliveries.event_id')
    .innerJoin('endpoints', 'endpoints.partner_id', 'deliveries.partner_id')
    .$if(partnerId !== undefined, (query) => query.where('deliveries.partner_id', '=', partnerId ?? 0))
    .$if(leadId !== undefined, (query) => query.where('deliveries.lead_id', '=', leadId ?? 0))
    .$if(states !== undefined, (query) => query.where(inStates(states ?? [])))
    .$if(since !== undefined, (query) => query.where('lead_events.created_at', '>=', since ?? null))
    .$if(until !== undefined, (query) => query.where('lead_events.created_at', '<', until ?? null))
    .$if(before !== undefined, (query) => query.where('deliveries.event_id', '<', before ?? ''))
}

/** `pending` are all open ones, held or not. */
function inStates(states: readonly DeliveryStatus[]) {
  const [held, ...others] = [states.includes('held'), ...states.filter((state) => state !== 'held')]
  const stored =
    others.length === 0 ? raw<boolean>`false` : raw<boolean>`deliveries.state in (${raw.join(others)})`
  if (!held) return stored
  return raw<boolean>`(${stored} or (deliveries.state = 'pending' and endpoints.state = 'paused'))`
}
