import { sql as raw } from 'kysely'
import { type DeliveryFailure, failureReason, type ReferralState } from './referral-state.ts'
import { endOf } from './score-dates.ts'
import type { MilestoneName } from './milestones.ts'
import { leadRequest } from './lead.ts'
import { countedOf } from '../deliveries/delivery.ts'
import type { Sql } from '../database/sql.ts'

/** A lead's state according to the record: the input of its workflow. */
export async function loadReferralState(sql: Sql, leadId: number): Promise<ReferralState | undefined> {
  const lead = await sql
    .selectFrom('leads')
    .select(['anchor_at', 'clock_offset', 'closed_at', 'erased_at', 'partner_id', 'last_event_at'])
    .select(raw<number>`next_sequence - 1`.as('last'))
    .select(leadRequest.as('requestId'))
    .select(raw<boolean>`exists (select from deployment where environment = 'sandbox')`.as('isSandbox'))
    .where('id', '=', leadId)
    .executeTakeFirst()
  if (lead === undefined) return undefined
  const facts = await sql
    .selectFrom('lead_events')
    .select([
      raw<string>`min(id) filter (where position = 1)`.as('firstEventId'),
      raw<MilestoneName[]>`array_agg(distinct event_name)`.as('seen'),
      raw<MilestoneName>`(array_agg(event_name order by position desc))[1]`.as('lastEvent'),
      raw<number | null>`max(score_period)`.as('period'),
      raw<Date | null>`max(created_at) filter (where event_name = 'mortgage_ready')`.as('readyAt'),
    ])
    .where('lead_id', '=', leadId)
    .where('position', 'is not', null)
    .executeTakeFirstOrThrow()
  const open = await firstOpenDelivery(sql, leadId)
  return {
    leadId,
    partnerId: lead.partner_id,
    ...(lead.requestId !== null && { requestId: lead.requestId }),
    firstEventId: facts.firstEventId,
    seen: facts.seen,
    lastEvent: facts.lastEvent,
    lastEventAt: lead.last_event_at.getTime(),
    anchor: lead.anchor_at?.getTime() ?? null,
    period: (facts.period ?? 0) + 1,
    isSandbox: lead.isSandbox,
    offset: lead.clock_offset * 1000,
    next: open?.sequence ?? lead.last + 1,
    last: lead.last,
    endsAt: endOf(facts.readyAt),
    closing: lead.closed_at !== null || lead.erased_at !== null,
    failure: failureOf(open),
  }
}

function firstOpenDelivery(sql: Sql, leadId: number) {
  return sql
    .selectFrom('deliveries')
    .leftJoinLateral(
      (eb) =>
        eb
          .selectFrom('attempts')
          .select(['status', 'error_code'])
          .whereRef('attempts.event_id', '=', 'deliveries.event_id')
          .where('error_code', 'is not', null)
          .orderBy('number', 'desc')
          .limit(1)
          .as('latest'),
      (join) => join.onTrue(),
    )
    .innerJoin('endpoints', 'endpoints.partner_id', 'deliveries.partner_id')
    .select(['sequence', 'latest.status', 'latest.error_code'])
    .select(countedOf('deliveries', 'endpoints').failures.as('failures'))
    .where('lead_id', '=', leadId)
    .where('deliveries.state', '=', 'pending')
    .orderBy('sequence')
    .limit(1)
    .executeTakeFirst()
}

type OpenDelivery = NonNullable<Awaited<ReturnType<typeof firstOpenDelivery>>>

function failureOf(open: OpenDelivery | undefined): DeliveryFailure | null {
  if (open === undefined || open.failures === 0) return null
  const { sequence, failures, status, error_code } = open
  return { sequence, failures, reason: failureReason(status, error_code) }
}

/** The failure of a lead's first open delivery; `null` if it has not failed. */
export async function openFailure(sql: Sql, leadId: number): Promise<DeliveryFailure | null> {
  return failureOf(await firstOpenDelivery(sql, leadId))
}
