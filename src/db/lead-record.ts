import type { Sql } from './orm.ts'

/** A lead of any partner with all that is recorded of it, as staff see it. */
export async function findLeadRecord(sql: Sql, leadId: number) {
  return sql
    .selectFrom('leads')
    .innerJoin('partners', 'partners.id', 'leads.partner_id')
    .selectAll('leads')
    .select('partners.name as partner_name')
    .where('leads.id', '=', leadId)
    .executeTakeFirst()
}

export type LeadRecord = NonNullable<Awaited<ReturnType<typeof findLeadRecord>>>

export async function findLeadEvents(sql: Sql, leadId: number) {
  return sql
    .selectFrom('lead_events')
    .select(['position', 'id as event_id', 'event_name', 'event_payload', 'created_at'])
    .where('lead_id', '=', leadId)
    .orderBy('position')
    .execute()
}

/** A lead's attempts, in the order in which they were made. */
export async function findLeadAttempts(sql: Sql, leadId: number) {
  return sql
    .selectFrom('attempts')
    .innerJoin('deliveries', 'deliveries.event_id', 'attempts.event_id')
    .select(['attempts.event_id', 'number', 'trigger', 'started_at', 'finished_at', 'duration_ms'])
    .select(['address', 'status', 'error_code', 'hint'])
    .where('deliveries.lead_id', '=', leadId)
    .orderBy('deliveries.sequence')
    .orderBy('number')
    .execute()
}

interface DeliveryFilter {
  partnerId?: number
  leadId?: number
  state?: 'pending' | 'delivered' | 'given_up' | 'canceled'
  limit: number
}

/** Deliveries with their latest attempt, the newest first; of one lead, in the order of their sequence. */
export async function findDeliveries(sql: Sql, { partnerId, leadId, state, limit }: DeliveryFilter) {
  const deliveries = sql
    .selectFrom('deliveries')
    .innerJoin('lead_events', 'lead_events.id', 'deliveries.event_id')
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
    .select([
      'deliveries.event_id',
      'deliveries.lead_id',
      'deliveries.partner_id',
      'deliveries.sequence',
      'lead_events.event_name',
      'deliveries.state',
      'deliveries.failures',
      'deliveries.next_attempt_at',
      'deliveries.settled_at',
      'latest.number as attempts',
      'latest.status as last_status',
      'latest.error_code as last_error_code',
      'latest.hint as last_hint',
    ])
    .$if(partnerId !== undefined, (query) => query.where('deliveries.partner_id', '=', partnerId ?? 0))
    .$if(leadId !== undefined, (query) => query.where('deliveries.lead_id', '=', leadId ?? 0))
    .$if(state !== undefined, (query) => query.where('deliveries.state', '=', state ?? 'pending'))
    .limit(limit)
  return leadId === undefined
    ? deliveries.orderBy('deliveries.event_id', 'desc').execute()
    : deliveries.orderBy('deliveries.sequence').execute()
}
