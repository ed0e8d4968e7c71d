import { sql as raw } from 'kysely'
import type { Sql } from '../database/sql.ts'
import { describeCertification } from './certification-checks.ts'
import { hasNotices, unsentNotices } from './notices.ts'
import { openDeliveryCount } from './open-deliveries.ts'

/** Whether a row of `endpoints` takes webhooks again, and not all leads were woken. */
const isWaking = raw<boolean>`(state = 'active' and round <> woken_round)`

/** The settled deliveries of a row of `endpoints` that wait to be sent again. */
const resends = raw`from deliveries d
  where d.partner_id = endpoints.partner_id and d.asked is not null and d.state <> 'pending'`

/** What an endpoint's workflow acts on, and shows to operators. */
export type EndpointReview = Awaited<ReturnType<typeof reviewEndpoint>>

export async function reviewEndpoint(sql: Sql, partnerId: number) {
  const { length: unsent } = await unsentNotices(sql, partnerId)
  const { certification, ...row } = await sql
    .selectFrom('endpoints')
    .select(['state', 'reason', 'certification'])
    .select([raw<string>`since::text`.as('since'), isWaking.as('isWaking'), openDeliveryCount.as('waiting')])
    .select(raw<number>`(select count(*)::int ${resends})`.as('resends'))
    // milliseconds since 1970; null unless the service paused it
    .select(raw<number | null>`(extract(epoch from next_probe_at) * 1000)::float8`.as('nextProbeAt'))
    .where('partner_id', '=', partnerId)
    .executeTakeFirstOrThrow()
  return {
    ...row,
    unsent,
    isCertifying: certification?.state === 'running',
    certified: certification && describeCertification(certification),
  }
}

/** Partners whose endpoint's workflow has something to do now. */
export async function endpointsAtWork(sql: Sql): Promise<number[]> {
  const endpoints = await sql
    .selectFrom('endpoints')
    .select('partner_id')
    .where(
      raw<boolean>`(
        ${isWaking} or ${hasNotices} or certification->>'state' = 'running'
        or next_probe_at < now() - interval '1 minute' or state = 'active' and exists (select ${resends})
      )`,
    )
    .execute()
  return endpoints.map((row) => row.partner_id)
}

/**
 * Begins a probe of an endpoint that the service paused: plans the next one, and finds the delivery for this one, the oldest
 * open one that is the first of its lead. The waits between probes are 1, 2, 4, 8 and 16 hours, and then a day.
 */
export async function beginProbe(sql: Sql, partnerId: number) {
  const wait = raw`least(clock_timestamp() - since + interval '1 hour', interval '1 day')`
  await sql
    .updateTable('endpoints')
    .set({ next_probe_at: raw<Date>`clock_timestamp() + ${wait}` })
    .where('partner_id', '=', partnerId)
    .where('next_probe_at', 'is not', null)
    .execute()
  return sql
    .selectFrom('deliveries')
    .select(['lead_id as leadId', raw<number>`min(sequence)`.as('sequence')])
    .where('partner_id', '=', partnerId)
    .where('state', '=', 'pending')
    .groupBy('lead_id')
    .orderBy(raw`min(event_id)`)
    .limit(1)
    .executeTakeFirst()
}

/**
 * The next leads to wake, in the order of their ids, in the endpoint's current round: those with open webhooks, and those
 * whose webhooks were canceled when it began.
 *
 * @param progress the last lead that was woken, and the round in which it was.
 */
export async function nextToWake(
  sql: Sql,
  partnerId: number,
  progress: { round: number; leadId: number },
  limit: number,
): Promise<{ round: number; leadIds: number[] }> {
  const { round, since } = await sql
    .selectFrom('endpoints')
    .select(['round', 'since'])
    .where('partner_id', '=', partnerId)
    .executeTakeFirstOrThrow()
  const leads = await sql
    .selectFrom('deliveries')
    .select('lead_id')
    .distinct()
    .where('partner_id', '=', partnerId)
    .where('lead_id', '>', progress.round === round ? progress.leadId : 0)
    .where(raw<boolean>`(state = 'pending' or state = 'canceled' and settled_at >= ${since})`)
    .orderBy('lead_id')
    .limit(limit)
    .execute()
  return { round, leadIds: leads.map((row) => row.lead_id) }
}

/** Notes that all leads are woken for a round. */
export async function endWaking(sql: Sql, partnerId: number, round: number): Promise<void> {
  await sql.updateTable('endpoints').set({ woken_round: round }).where('partner_id', '=', partnerId).execute()
}
