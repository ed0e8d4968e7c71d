import { sql as raw } from 'kysely'
import { takeLock } from '../../database/locks/locks.ts'
import type { Sql } from '../../database/orm.ts'

/** How many settled deliveries of a partner may wait to be sent once more. */
export const MOST_RESENDS = 1000
const settled = ['delivered', 'given_up'] as const

export interface RequestedResends {
  /** Events above the limit. */
  refused: Set<string>
  /** Whether no resend of the partner was waiting. */
  isFirst: boolean
}

/**
 * Marks settled deliveries to be sent once more. Marking one twice changes nothing: two requests get one attempt.
 *
 * A lock serializes the requests of one partner: concurrent ones would exceed the limit together.
 */
export async function requestResends(
  sql: Sql,
  partnerId: number,
  eventIds: readonly string[],
): Promise<RequestedResends> {
  return sql.transaction().execute(async (trx) => {
    await takeLock(trx, 'resends', partnerId)
    const { count, waiting } = await trx
      .selectFrom('deliveries')
      .select([
        raw<number>`count(*)::int`.as('count'),
        raw<string[]>`coalesce(array_agg(event_id) filter (where event_id = any(${eventIds})), '{}')`.as(
          'waiting',
        ),
      ])
      .where('partner_id', '=', partnerId)
      .where('resend_requested_at', 'is not', null)
      .where('state', '!=', 'pending')
      .executeTakeFirstOrThrow()
    const asked = [...new Set(eventIds)].filter((eventId) => !waiting.includes(eventId))
    const room = Math.max(0, MOST_RESENDS - count)
    await mark(trx, partnerId, asked.slice(0, room))
    return { refused: new Set(asked.slice(room)), isFirst: count === 0 }
  })
}

/** Their leads are locked, so that an erasure comes before or after: it removes the marks that there are. */
async function mark(trx: Sql, partnerId: number, eventIds: readonly string[]): Promise<void> {
  if (eventIds.length === 0) return
  await trx
    .with('kept', (cte) =>
      cte
        .selectFrom('leads')
        .select('id')
        .where('id', 'in', (eb) =>
          eb.selectFrom('deliveries').select('lead_id').where('event_id', 'in', eventIds),
        )
        .where('erased_at', 'is', null)
        .orderBy('id')
        .forShare(),
    )
    .updateTable('deliveries')
    .set({ resend_requested_at: raw<Date>`clock_timestamp()` })
    .where('event_id', 'in', eventIds)
    .where('lead_id', 'in', (eb) => eb.selectFrom('kept').select('id'))
    .where('partner_id', '=', partnerId)
    .where('state', 'in', settled)
    .execute()
}

/** Removes a mark without a resend, and the lease of an interrupted attempt. */
export async function forgetResend(trx: Sql, eventId: string): Promise<void> {
  await trx
    .updateTable('deliveries')
    .set({ resend_requested_at: null, lease: null, leased_until: null })
    .where('event_id', '=', eventId)
    .execute()
}

/** Marked deliveries, except open ones, which their leads' workflows send, and those to paused endpoints, which wait. */
function sendable(sql: Sql) {
  return sql
    .selectFrom('deliveries')
    .innerJoin('endpoints', 'endpoints.partner_id', 'deliveries.partner_id')
    .where('deliveries.resend_requested_at', 'is not', null)
    .where('deliveries.state', '!=', 'pending')
    .where('endpoints.state', '!=', 'paused')
}

/** A partner's oldest marked deliveries, each lead's in order; none while the endpoint is paused. `total` counts all. */
export async function resendPage(
  sql: Sql,
  partnerId: number,
  limit: number,
): Promise<{ total: number; webhooks: { leadId: number; sequence: number }[] }> {
  const oldest = sendable(sql)
    .select(['lead_id as leadId', 'sequence', raw<number>`(count(*) over ())::int`.as('total')])
    .where('deliveries.partner_id', '=', partnerId)
    .orderBy('resend_requested_at')
    .limit(limit)
  const rows = await sql
    .selectFrom(oldest.as('oldest'))
    .selectAll()
    .orderBy('leadId')
    .orderBy('sequence')
    .execute()
  const webhooks = rows.map(({ leadId, sequence }) => ({ leadId, sequence }))
  return { total: rows[0]?.total ?? 0, webhooks }
}

/** Partners with deliveries that can be sent once more now. */
export async function partnersWithResends(sql: Sql, limit: number): Promise<number[]> {
  const partners = await sendable(sql)
    .select('deliveries.partner_id')
    .groupBy('deliveries.partner_id')
    .orderBy(raw`random()`)
    .limit(limit)
    .execute()
  return partners.map((row) => row.partner_id)
}
