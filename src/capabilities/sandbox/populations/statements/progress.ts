import { type RawBuilder, sql as raw } from 'kysely'
import { idDaysAgo } from '../../../../core/deliveries/statements/id-days-ago.ts'
import { DAY_MS } from '../../../../core/values/durations.ts'
import type { Sql } from '../../../../core/database/orm.ts'
import {
  LISTED,
  type NeverAccepted,
  type Progress,
  type Report,
  type SlowAnswer,
} from '../decisions/population.ts'

const DAY_S = DAY_MS / 1000

const deliveriesOf = (id: number) => raw`population_leads
  join deliveries on deliveries.lead_id = population_leads.lead_id
  where population_id = ${id}`

const attemptsOf = (id: number) => raw`population_leads
  join deliveries on deliveries.lead_id = population_leads.lead_id
  join attempts on attempts.event_id = deliveries.event_id
  join lead_events on lead_events.id = deliveries.event_id
  where population_id = ${id}`

const wasAccepted = raw`attempts.status between 200 and 299`

/** What a population has done by now. */
export async function progressOf(
  sql: Sql,
  { id, size, before, seconds }: { id: number; size: number; before: Progress | null; seconds: number },
): Promise<Progress> {
  const { done } = await oneOf<{ done: number }>(
    sql,
    raw`select count(outcome)::int as done from population_leads where population_id = ${id}`,
  )
  const { webhooks, late } = await oneOf<{ webhooks: number; late: number }>(
    sql,
    raw`select count(*) filter (where state = 'delivered')::int as webhooks,
      count(*) filter (where state = 'pending' and failures > 0)::int as late from ${deliveriesOf(id)}`,
  )
  const perSecond = seconds > 0 ? Math.round((10 * (webhooks - (before?.webhooks ?? 0))) / seconds) / 10 : 0
  return { done, of: size, webhooks, perSecond, late }
}

/** Whether another partner than this one got a webhook in the last `seconds`: the ids of attempts begin with their time. */
export async function othersGetWebhooks(sql: Sql, partnerId: number, seconds: number): Promise<boolean> {
  const { others } = await oneOf<{ others: boolean }>(
    sql,
    raw`select exists (
      select from attempts where partner_id <> ${partnerId} and id >= ${idDaysAgo('att_', seconds / DAY_S)}
    ) as others`,
  )
  return others
}

/** How many leads of it the endpoint refused for too long. */
export async function refusedLeads(sql: Sql, id: number): Promise<number> {
  const { count } = await oneOf<{ count: number }>(
    sql,
    raw`select count(*)::int as count from population_leads where population_id = ${id} and outcome = 'refused'`,
  )
  return count
}

/** What came of a population, once nobody plays it. */
export async function reportOf(sql: Sql, id: number): Promise<Report> {
  const rows = await raw<{ outcome: keyof Report['leads']; kind: keyof Report['kinds']; count: number }>`
    select coalesce(outcome, 'unfinished') as outcome, kind, count(*)::int as count
    from population_leads where population_id = ${id} group by 1, 2 order by 1, 2`.execute(sql)
  const { accepted, never } = await oneOf<{ accepted: number; never: number }>(
    sql,
    raw`select count(*) filter (where state = 'delivered')::int as accepted,
      count(*) filter (where state <> 'delivered')::int as never from ${deliveriesOf(id)}`,
  )
  const tried = await oneOf<{ attempts: number; refused: number; repeated: number }>(
    sql,
    raw`select count(*)::int as attempts,
      count(*) filter (where attempts.finished_at is not null and (${wasAccepted}) is not true)::int as refused,
      count(distinct attempts.event_id) filter (where attempts.number > 1)::int as repeated
      from ${attemptsOf(id)}`,
  )
  const { seconds } = await oneOf<{ seconds: number }>(
    sql,
    raw`select extract(epoch from clock_timestamp() - requested_at)::int as seconds from populations where id = ${id}`,
  )
  return {
    leads: summed(rows.rows.map(({ outcome, count }) => [outcome, count] as const)),
    kinds: summed(rows.rows.map(({ kind, count }) => [kind, count] as const)),
    webhooks: { accepted, ...tried },
    slowest: await slowestOf(sql, id),
    neverAccepted: { count: never, webhooks: await neverAcceptedOf(sql, id) },
    seconds,
  }
}

async function slowestOf(sql: Sql, id: number): Promise<SlowAnswer[]> {
  const { rows } = await raw<SlowAnswer>`
    select deliveries.lead_id as "leadId", deliveries.event_id as "eventId", event_name as "eventName",
      duration_ms as ms
    from ${attemptsOf(id)} and duration_ms is not null
    order by duration_ms desc, attempts.id limit ${LISTED.slowest}`.execute(sql)
  return rows
}

/** Webhooks that nobody accepted, with what became of their latest request. */
async function neverAcceptedOf(sql: Sql, id: number): Promise<NeverAccepted[]> {
  const { rows } = await raw<NeverAccepted>`
    select deliveries.lead_id as "leadId", deliveries.event_id as "eventId", event_name as "eventName",
      deliveries.sequence, deliveries.state, coalesce(latest.number, 0) as attempts, latest.status,
      latest.error_code as "errorCode"
    from population_leads
    join deliveries on deliveries.lead_id = population_leads.lead_id
    join lead_events on lead_events.id = deliveries.event_id
    left join lateral (
      select number, status, error_code from attempts
      where attempts.event_id = deliveries.event_id order by number desc limit 1
    ) latest on true
    where population_id = ${id} and deliveries.state <> 'delivered'
    order by deliveries.lead_id, deliveries.sequence limit ${LISTED.neverAccepted}`.execute(sql)
  return rows
}

async function oneOf<Row>(sql: Sql, query: RawBuilder<unknown>): Promise<Row> {
  const { rows } = await query.execute(sql)
  return rows[0] as Row
}

function summed<Name extends string>(counts: readonly (readonly [Name, number])[]) {
  const sums: Partial<Record<Name, number>> = {}
  for (const [name, count] of counts) sums[name] = (sums[name] ?? 0) + count
  return sums
}
