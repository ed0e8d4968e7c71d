import { sql as raw } from 'kysely'
import { type Due, dueDates, type LeadClock } from '../decisions/lead-clock.ts'
import { MOST_EVENTS } from '../../../core/leads/decisions/recording-decision.ts'
import { endOf } from '../../../core/leads/decisions/score-dates.ts'
import { takesNoMore } from '../../../core/leads/statements/lock-lead.ts'
import { isLeased } from '../../../core/deliveries/statements/lease.ts'
import { countedOf } from '../../../core/deliveries/statements/round.ts'
import type { Sql } from '../../../core/database/sql.ts'

const counted = countedOf('deliveries', 'endpoints')

/** A lead's clock according to the record, in one statement; `undefined` if there is no such lead. */
export async function readLeadClock(sql: Sql, leadId: number): Promise<LeadClock | undefined> {
  const row = await sql
    .selectFrom('leads')
    .leftJoinLateral(
      (eb) =>
        eb
          .selectFrom('deliveries')
          .innerJoin('endpoints', 'endpoints.partner_id', 'deliveries.partner_id')
          .select([counted.failures.as('failures'), counted.nextAttemptAt.as('next_attempt_at')])
          .select('endpoints.state as endpoint_state')
          .select(isLeased.as('is_leased'))
          .whereRef('deliveries.lead_id', '=', 'leads.id')
          .where('deliveries.state', '=', 'pending')
          .orderBy('sequence')
          .limit(1)
          .as('open'),
      (join) => join.onTrue(),
    )
    .select(['leads.status', 'clock_offset', 'anchor_at', 'failures', 'next_attempt_at'])
    .select(['endpoint_state', 'is_leased'])
    .select(takesNoMore.as('is_closed'))
    .select(raw<boolean>`erased_at is not null`.as('is_erased'))
    .select(raw<boolean>`next_position > ${MOST_EVENTS}`.as('is_full'))
    .select(raw<Date>`clock_timestamp()`.as('now'))
    .select((eb) => [
      eb
        .selectFrom('lead_events')
        .select((events) => events.fn.max('score_period').as('p'))
        .whereRef('lead_id', '=', 'leads.id')
        .as('last_period'),
      eb
        .selectFrom('lead_events')
        .select('created_at')
        .whereRef('lead_id', '=', 'leads.id')
        .where('dedupe_key', '=', 'mortgage_ready')
        .as('ready_at'),
    ])
    .where('leads.id', '=', leadId)
    .executeTakeFirst()
  if (row === undefined) return undefined
  const ahead = row.clock_offset * 1000
  const isHeld = row.endpoint_state === 'paused'
  return {
    leadId,
    status: row.status,
    now: row.now.getTime() + ahead,
    offsetSeconds: row.clock_offset,
    isClosed: row.is_closed,
    isErased: row.is_erased,
    isFull: row.is_full,
    isHeld,
    anchor: row.anchor_at?.getTime() ?? null,
    lastPeriod: row.last_period ?? 0,
    endsAt: endOf(row.ready_at),
    open:
      row.next_attempt_at === null || isHeld
        ? null
        : {
            failures: row.failures ?? 0,
            nextAttemptAt: row.next_attempt_at.getTime() + ahead,
            isLeased: row.is_leased ?? false,
          },
  }
}

/** What is due next on a lead's clock, and when; `undefined` for nothing. */
export const nextDue = (clock: LeadClock): Due | undefined => dueDates(clock)[0]
