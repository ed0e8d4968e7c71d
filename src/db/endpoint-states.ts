import { sql as raw } from 'kysely'
import { SET_FROM_NOW } from './endpoints.ts'
import type { Sql } from './orm.ts'

/** Makes every open delivery of a partner wait. Answers the endpoint's id; `undefined` when it has no URL. */
export async function pauseEndpoint(sql: Sql, partnerId: number): Promise<number | undefined> {
  return moveTo(sql, partnerId, { state: 'paused', reason: 'staff' })
}

/** Lets a partner's webhooks go out again, with their schedules begun anew by `wakeLeads`. */
export async function resumeEndpoint(sql: Sql, partnerId: number): Promise<number | undefined> {
  const worksAgain = { failing_since: null, blocked_until: null }
  return moveTo(sql, partnerId, { state: 'draining', reason: 'resumed', ...worksAgain })
}

async function moveTo(
  sql: Sql,
  partnerId: number,
  change: { state: 'paused' | 'draining'; reason: string; failing_since?: null; blocked_until?: null },
): Promise<number | undefined> {
  const endpoint = await sql
    .updateTable('endpoints')
    .set({ ...change, since: raw<Date>`now()` })
    .where('partner_id', '=', partnerId)
    .where('url', 'is not', null)
    .returning('id')
    .executeTakeFirst()
  return endpoint?.id
}

/** A draining under way; `since` names it, to the microsecond. */
export interface Draining {
  partnerId: number
  since: string
  /** Deliveries were left out when it began. */
  fromNow: boolean
}

export async function findDraining(sql: Sql, endpointId: number): Promise<Draining | undefined> {
  const row = await sql
    .selectFrom('endpoints')
    .select(['partner_id', 'reason', raw<string>`since::text`.as('since')])
    .where('id', '=', endpointId)
    .where('state', '=', 'draining')
    .executeTakeFirst()
  return row && { partnerId: row.partner_id, since: row.since, fromNow: row.reason === SET_FROM_NOW }
}

/** Endpoints whose workflow has something to do. */
export async function drainingEndpoints(sql: Sql, limit: number): Promise<number[]> {
  const rows = await sql
    .selectFrom('endpoints')
    .select('id')
    .where('state', '=', 'draining')
    .where('url', 'is not', null)
    .orderBy('since')
    .limit(limit)
    .execute()
  return rows.map((row) => row.id)
}

/**
 * Begins the schedule of open deliveries anew, for the next leads of a draining in the order of their ids.
 *
 * @returns the leads whose workflows are to be woken; none when there are no more.
 */
export async function renewSchedules(
  sql: Sql,
  { partnerId, since, fromNow }: Draining,
  afterLeadId: number,
  limit: number,
): Promise<number[]> {
  const page = await sql
    .selectFrom('deliveries')
    .select('lead_id')
    .distinct()
    .where('partner_id', '=', partnerId)
    .where('lead_id', '>', afterLeadId)
    .where((eb) => {
      const leftOut = eb.and([
        eb('state', '=', 'canceled'),
        eb('settled_at', '=', raw<Date>`${since}::timestamptz`),
      ])
      return fromNow ? eb.or([eb('state', '=', 'pending'), leftOut]) : eb('state', '=', 'pending')
    })
    .orderBy('lead_id')
    .limit(limit)
    .execute()
  const leadIds = page.map((row) => row.lead_id)
  if (leadIds.length === 0) return []
  await sql
    .updateTable('deliveries')
    .set({ failures: 0, next_attempt_at: raw<Date>`clock_timestamp()` })
    .where('lead_id', 'in', leadIds)
    .where('state', '=', 'pending')
    .execute()
  return leadIds
}

/**
 * Makes a drained endpoint `active`: once no lead's first open delivery from before is still due.
 *
 * @returns false while one is; true when it is active, or this draining is over for another reason.
 */
export async function finishDraining(sql: Sql, endpointId: number, since: string): Promise<boolean> {
  const ours = raw<boolean>`id = ${endpointId} and state = 'draining' and since = ${since}::timestamptz`
  const { rows } = await raw<{ finished: boolean }>`
    with finished as (
      update endpoints set state = 'active', reason = null, since = now()
      where ${ours} and not exists (
        select from deliveries
        join lead_events on lead_events.id = deliveries.event_id
        where deliveries.partner_id = endpoints.partner_id
          and deliveries.state = 'pending'
          and deliveries.next_attempt_at <= clock_timestamp()
          and lead_events.created_at < endpoints.since
          and not exists (
            select from deliveries earlier
            where earlier.lead_id = deliveries.lead_id
              and earlier.sequence < deliveries.sequence
              and earlier.state = 'pending'
          )
      )
      returning id
    )
    select exists (select from finished) or not exists (select from endpoints where ${ours}) as finished
  `.execute(sql)
  return rows[0]?.finished === true
}
