import { sql as raw } from 'kysely'
import { inTransaction } from '../../../../core/database/in-transaction.ts'
import { jsonb } from '../../../../core/database/jsonb.ts'
import type { Sql } from '../../../../core/database/orm.ts'
import type { Clear } from '../../../../core/partners/statements/clear.ts'
import type { Mix } from '../decisions/journeys.ts'
import { type Faults, KEPT, type PopulationEnd, type Progress } from '../decisions/population.ts'

/** Its partner's endpoint is paused: nothing that it sends would arrive. */
const isHeld = raw<boolean>`exists (
  select from endpoints where endpoints.partner_id = populations.partner_id and state = 'paused'
)`

export interface NewPopulation {
  partnerId: number
  size: number
  seed: number
  mix: Mix
  faults: Faults | null
  /** Its leads and their webhooks name it. */
  requestId: string
}

const now = raw<Date>`clock_timestamp()`
/** One whose workflow has shown no sign for so long may have lost it. */
const SILENT = raw<Date>`clock_timestamp() - interval '1 minute'`
/** Younger ones are being started by the API that took them. */
const MIN_AGE = raw<Date>`clock_timestamp() - interval '1 second'`

/**
 * Writes a population down: its workflow is started after the commit, or by the sweep. The partner's oldest ones are
 * forgotten, their leads stay.
 *
 * @param check is called under the partner's lock, which a reset takes, too: what it throws prevents the population.
 * @returns the open one, if the partner has one.
 */
export async function requestPopulation(
  sql: Sql,
  { partnerId, size, seed, mix, faults, requestId }: NewPopulation,
  check: () => Promise<void> = async () => {},
): Promise<{ kind: 'requested' | 'open'; id: number }> {
  return inTransaction(sql, async (trx) => {
    // a partner's take turns
    await raw`select from partners where id = ${partnerId} for no key update`.execute(trx)
    await check()
    const open = await trx
      .selectFrom('populations')
      .select('id')
      .where('partner_id', '=', partnerId)
      .where('ended_at', 'is', null)
      .executeTakeFirst()
    if (open !== undefined) return { kind: 'open', id: open.id }
    const kept = trx
      .selectFrom('populations')
      .select('id')
      .where('partner_id', '=', partnerId)
      .orderBy('id', 'desc')
      .limit(KEPT.populations - 1)
    await trx
      .deleteFrom('populations')
      .where('partner_id', '=', partnerId)
      .where('id', 'not in', kept)
      .execute()
    const { id } = await trx
      .insertInto('populations')
      .values({
        partner_id: partnerId,
        size,
        seed,
        mix: raw<Mix>`${JSON.stringify(mix)}::jsonb`,
        fault_one_in: faults?.oneIn ?? null,
        fault_status: faults?.status ?? null,
        request_id: requestId,
      })
      .returning('id')
      .executeTakeFirstOrThrow()
    return { kind: 'requested', id }
  })
}

/** Why a partner's webhooks go nowhere; `undefined` if they are sent. */
export async function whyHeld(
  sql: Sql,
  partnerId: number,
): Promise<'NO_ENDPOINT' | 'PAUSED_BY_STAFF' | 'ENDPOINT_PAUSED' | undefined> {
  const endpoint = await sql
    .selectFrom('endpoints')
    .select(['url', 'state', 'paused_by as pausedBy'])
    .where('partner_id', '=', partnerId)
    .executeTakeFirst()
  if (endpoint === undefined || endpoint.url === null) return 'NO_ENDPOINT'
  if (endpoint.state !== 'paused') return undefined
  return endpoint.pausedBy === 'staff' ? 'PAUSED_BY_STAFF' : 'ENDPOINT_PAUSED'
}

/** A population of a partner's, or its latest one; `undefined` if there is none. */
export async function findPopulation(sql: Sql, partnerId: number, id?: number) {
  let query = sql
    .selectFrom('populations')
    .select(['id', 'size', 'seed', 'mix', 'fault_one_in as faultOneIn', 'fault_status as faultStatus'])
    .select(['requested_at as requestedAt', 'played_at as playedAt', 'ended_at as endedAt', 'outcome'])
    .select(['cancel_requested_at as cancelRequestedAt', 'progress', 'report'])
    .where('partner_id', '=', partnerId)
  if (id !== undefined) query = query.where('id', '=', id)
  return query.orderBy('id', 'desc').limit(1).executeTakeFirst()
}

export type PopulationRow = NonNullable<Awaited<ReturnType<typeof findPopulation>>>

/** Asks for a population's end: whoever plays it sees that. One that is over stays as it is. */
export async function requestEnd(sql: Sql, id: number): Promise<void> {
  await sql
    .updateTable('populations')
    .set({ cancel_requested_at: raw<Date>`coalesce(cancel_requested_at, clock_timestamp())` })
    .where('id', '=', id)
    .where('ended_at', 'is', null)
    .execute()
}

/** Whoever plays one sees that it is gone, and creates no further lead: that would be a lead of no population. */
export const removePopulations: Clear = async (trx, partnerId) => {
  await trx.deleteFrom('populations').where('partner_id', '=', partnerId).execute()
}

/** What is needed to play a population; `undefined` if there is no such one. */
export async function readPopulation(sql: Sql, id: number) {
  return sql
    .selectFrom('populations')
    .select(['id', 'partner_id as partnerId', 'size', 'seed', 'mix', 'outcome', 'progress'])
    .select('request_id as requestId')
    .select(raw<boolean>`cancel_requested_at is not null`.as('isCanceled'))
    .select(isHeld.as('isHeld'))
    .select(raw<number>`extract(epoch from ${now} - requested_at)::float8`.as('ageSeconds'))
    .where('id', '=', id)
    .executeTakeFirst()
}

export type PlayedPopulation = NonNullable<Awaited<ReturnType<typeof readPopulation>>>

/** Whether it is to be played no further. */
export async function isOver(sql: Sql, id: number): Promise<boolean> {
  const open = await sql
    .selectFrom('populations')
    .select('id')
    .where('id', '=', id)
    .where('cancel_requested_at', 'is', null)
    .where('ended_at', 'is', null)
    .where((eb) => eb.not(isHeld))
    .executeTakeFirst()
  return open === undefined
}

/** Notes what it has done, and that somebody plays it. */
export async function noteProgress(sql: Sql, id: number, progress: Progress | null): Promise<void> {
  await sql
    .updateTable('populations')
    .set({ played_at: now, ...(progress && { progress: jsonb(progress) }) })
    .where('id', '=', id)
    .where('ended_at', 'is', null)
    .execute()
}

/** Ends a population, unless it has ended. @returns how it ended. */
export async function endPopulation(
  sql: Sql,
  id: number,
  outcome: PopulationEnd,
  report: (trx: Sql) => Promise<object>,
): Promise<PopulationEnd> {
  return sql.transaction().execute(async (trx) => {
    const found = await trx
      .selectFrom('populations')
      .select('outcome')
      .where('id', '=', id)
      .forNoKeyUpdate()
      .executeTakeFirst()
    if (found === undefined || found.outcome !== null) return found?.outcome ?? 'canceled'
    const text = JSON.stringify(await report(trx))
    await trx
      .updateTable('populations')
      .set({ ended_at: now, outcome, report: raw`${text}::jsonb` })
      .where('id', '=', id)
      .execute()
    return outcome
  })
}

/** Populations that have no workflow yet, or may have lost it. */
export async function populationsToStart(sql: Sql, limit: number): Promise<number[]> {
  const rows = await sql
    .selectFrom('populations')
    .select('id')
    .where('ended_at', 'is', null)
    .where('requested_at', '<', MIN_AGE)
    .where((eb) => eb.or([eb('played_at', 'is', null), eb('played_at', '<', SILENT)]))
    .orderBy(raw`random()`)
    .limit(limit)
    .execute()
  return rows.map(({ id }) => id)
}
