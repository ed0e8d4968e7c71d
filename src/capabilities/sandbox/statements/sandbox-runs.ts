import { sql as raw } from 'kysely'
import { MOST_RUNS, type RunKind } from '../decisions/sandbox-runs.ts'
import type { ScenarioName } from '../decisions/scenarios.ts'
import type { Sql } from '../../../core/database/orm.ts'
import type { WithLead } from '../../../core/leads/statements/new-lead.ts'

/** A scenario to play with a lead. */
export interface RequestedScenario {
  id: number
  leadId: number
  scenario: ScenarioName
}

/** Younger ones are being started by the API that took them. */
const MIN_AGE = raw<Date>`clock_timestamp() - interval '1 second'`
/** What has been under way for longer is looked after: its workflow may have been terminated. */
const LOOK_AFTER = raw<Date>`clock_timestamp() - interval '1 minute'`

const now = raw<Date>`clock_timestamp()`

/**
 * Does `request`, which makes a run of a partner, if the partner may have another one under way. Hundreds of requests at once
 * must not delay other partners: those that come too late are refused without waiting for the lock.
 *
 * @returns `too_many` without a place for it.
 */
export async function withRoom<Result>(
  sql: Sql,
  partnerId: number,
  kind: RunKind,
  request: (trx: Sql) => Promise<Result>,
): Promise<Result | 'too_many'> {
  if (!(await hasRoom(sql, partnerId, kind))) return 'too_many'
  return sql.transaction().execute(async (trx) => {
    await lockRuns(trx, partnerId)
    return (await hasRoom(trx, partnerId, kind)) ? request(trx) : 'too_many'
  })
}

async function hasRoom(sql: Sql, partnerId: number, kind: RunKind): Promise<boolean> {
  const { count } = await sql
    .selectFrom('sandbox_runs')
    .select(raw<number>`count(*)::int`.as('count'))
    .where('partner_id', '=', partnerId)
    .where('kind', '=', kind)
    .executeTakeFirstOrThrow()
  return count < MOST_RUNS[kind]
}

/** Runs of one partner are counted by one transaction at a time. A new lead does not wait for this lock. */
async function lockRuns(trx: Sql, partnerId: number): Promise<void> {
  await raw`select from partners where id = ${partnerId} for no key update`.execute(trx)
}

/** Requests a scenario with a new lead. */
export const playing =
  (scenario: ScenarioName): WithLead =>
  (ids) => raw`, run as (
      insert into sandbox_runs (lead_id, partner_id, kind, scenario)
      select ${ids}, 'scenario', ${scenario}::text from key
    )`

/** Requests a scenario. @returns false if one of the lead waits or is played already. */
export async function requestScenario(
  trx: Sql,
  partnerId: number,
  leadId: number,
  scenario: ScenarioName,
): Promise<boolean> {
  const { numInsertedOrUpdatedRows: inserted = 0n } = await trx
    .insertInto('sandbox_runs')
    .values({ partner_id: partnerId, lead_id: leadId, kind: 'scenario', scenario })
    .onConflict((conflict) => conflict.columns(['lead_id', 'kind']).doNothing())
    .executeTakeFirstOrThrow()
  return inserted > 0n
}

/**
 * Gives a partner's scenarios their places, those that were requested first before others. Where more are requested than
 * there are places, they take one place by turns: what create-lead asks for comes by hundreds, and nobody waits for it.
 *
 * @returns all that have a place and are not played yet, so that what was not started is started again.
 */
export async function admitScenarios(sql: Sql, partnerId: number): Promise<RequestedScenario[]> {
  return sql.transaction().execute(async (trx) => {
    await lockRuns(trx, partnerId)
    const ofPartner = raw`partner_id = ${partnerId} and kind = 'scenario'`
    await raw`
      update sandbox_runs set admitted_at = clock_timestamp() where id in (
        select id from sandbox_runs where ${ofPartner} and admitted_at is null order by id
        limit (
          select greatest(0, case when count(*) <= ${MOST_RUNS.scenario} then count(*) else 1 end - count(admitted_at))
          from sandbox_runs where ${ofPartner}
        )
      )`.execute(trx)
    return trx
      .selectFrom('sandbox_runs')
      .select(['id', 'lead_id as leadId', 'scenario'])
      .where('partner_id', '=', partnerId)
      .where('scenario', 'is not', null)
      .where('admitted_at', 'is not', null)
      .where('begun_at', 'is', null)
      .orderBy('id')
      .$narrowType<{ scenario: ScenarioName }>()
      .execute()
  })
}

/** Whether a lead's scenario waits for its place. */
export async function isWaiting(sql: Sql, leadId: number): Promise<boolean> {
  const waiting = sql.selectFrom('sandbox_runs').select('id').where('lead_id', '=', leadId)
  return (
    (await waiting.where('scenario', 'is not', null).where('admitted_at', 'is', null).executeTakeFirst()) !==
    undefined
  )
}

/** Begins to play a scenario. @returns false if it is over, or was never requested. */
export async function beginScenario(sql: Sql, id: number): Promise<boolean> {
  const { numUpdatedRows } = await sql
    .updateTable('sandbox_runs')
    .set({ begun_at: raw<Date>`coalesce(begun_at, clock_timestamp())` })
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

/** Frees a scenario's place. */
export async function endScenario(sql: Sql, id: number): Promise<void> {
  await sql.deleteFrom('sandbox_runs').where('id', '=', id).execute()
}

/** Partners with scenarios that are not played yet. */
export async function partnersWithScenarios(sql: Sql, limit: number): Promise<number[]> {
  const rows = await sql
    .selectFrom('sandbox_runs')
    .select('partner_id')
    .where('scenario', 'is not', null)
    .where('begun_at', 'is', null)
    .where('requested_at', '<', MIN_AGE)
    .groupBy('partner_id')
    .orderBy(raw`random()`)
    .limit(limit)
    .execute()
  return rows.map((row) => row.partner_id)
}

/** The place of an advance. */
export interface AdvancePlace {
  /** Whether the lead's workflow is to move the clock: nothing else does before it leaves that to a workflow of its own. */
  isPassing: boolean
  /** The run that got this place; absent if the place was there already. */
  run?: Run
}

/**
 * Gives an advance of a lead's clock its place. One that is there already keeps it: Temporal knows whether that is under way.
 *
 * @param mayPass whether the lead's workflow may move it.
 * @returns `undefined` if there is no such lead.
 */
export async function admitAdvance(
  sql: Sql,
  leadId: number,
  mayPass: boolean,
): Promise<AdvancePlace | 'moving' | 'too_many' | undefined> {
  const lead = await sql
    .selectFrom('leads')
    .leftJoin('sandbox_runs', 'lead_id', 'leads.id')
    .select('leads.partner_id')
    .select(raw<RunKind[]>`array_remove(array_agg(kind), null)`.as('runs'))
    .where('leads.id', '=', leadId)
    .groupBy('leads.id')
    .executeTakeFirst()
  if (lead === undefined) return undefined
  if (lead.runs.includes('advance')) return (await isPassing(sql, leadId)) ? 'moving' : keepPlace(sql, leadId)
  // a scenario moves the clock, too
  const passes = mayPass && !lead.runs.includes('scenario')
  const place = { lead_id: leadId, partner_id: lead.partner_id, kind: 'advance' as const, admitted_at: now }
  return withRoom(sql, lead.partner_id, 'advance', async (trx) => {
    const run = await trx
      .insertInto('sandbox_runs')
      .values({ ...place, ...(passes && { begun_at: now }) })
      .onConflict((conflict) => conflict.columns(['lead_id', 'kind']).doNothing())
      .returning(['id', raw<string>`admitted_at::text`.as('admittedAt')])
      .executeTakeFirst()
    return run === undefined ? 'moving' : { isPassing: passes, run }
  })
}

async function keepPlace(sql: Sql, leadId: number): Promise<AdvancePlace> {
  await advanceOf(sql, leadId).set({ admitted_at: now }).execute()
  return { isPassing: false }
}

const advanceOf = (sql: Sql, leadId: number) =>
  sql.updateTable('sandbox_runs').where('lead_id', '=', leadId).where('kind', '=', 'advance')

/** Whether the lead's own workflow moves its clock. */
export async function isPassing(sql: Sql, leadId: number): Promise<boolean> {
  const passing = sql.selectFrom('sandbox_runs').select('id').where('lead_id', '=', leadId)
  // what is older was cut off: the rest is for a workflow of its own
  return (
    (await passing.where('kind', '=', 'advance').where('begun_at', '>', LOOK_AFTER).executeTakeFirst()) !==
    undefined
  )
}

/** From here on, an advance is moved by a workflow of its own. */
export async function stopPassing(sql: Sql, leadId: number): Promise<void> {
  await advanceOf(sql, leadId).set({ begun_at: null }).execute()
}

export async function endAdvance(sql: Sql, leadId: number): Promise<void> {
  await sql.deleteFrom('sandbox_runs').where('lead_id', '=', leadId).where('kind', '=', 'advance').execute()
}

/** Runs that have been under way for a while, and whose workflows may have been terminated. */
export async function runsToLookAfter(sql: Sql, limit: number): Promise<number[]> {
  const rows = await sql
    .selectFrom('sandbox_runs')
    .select('id')
    .where('admitted_at', '<', LOOK_AFTER)
    .where((eb) => eb.or([eb('kind', '=', 'advance'), eb('begun_at', '<', LOOK_AFTER)]))
    .orderBy(raw`random()`)
    .limit(limit)
    .execute()
  return rows.map(({ id }) => id)
}

export async function findRun(sql: Sql, id: number) {
  return sql
    .selectFrom('sandbox_runs')
    .select(['id', 'lead_id as leadId', 'kind', raw<string>`admitted_at::text`.as('admittedAt')])
    .where('id', '=', id)
    .executeTakeFirst()
}

/** A run as it was admitted. */
interface Run {
  id: number
  /** PostgreSQL's time, to the microsecond. */
  admittedAt: string
}

/** Frees the place of a run that has no workflow, unless another one took it meanwhile. */
export async function forgetRun(sql: Sql, { id, admittedAt }: Run): Promise<void> {
  await sql
    .deleteFrom('sandbox_runs')
    .where('id', '=', id)
    .where('admitted_at', '=', raw<Date>`${admittedAt}::timestamptz`)
    .execute()
}
