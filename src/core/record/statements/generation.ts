import { sql as raw } from 'kysely'
import type { RestoreCause } from '../decisions/restore.ts'
import type { Sql } from '../../../tables.ts'
import { codeOf, isDenied } from '../../database/role-rights.ts'

/**
 * The generation of the record: raised when PostgreSQL may have come back with less than it had, so that whoever knew more,
 * a workflow or a partner, can tell. Its cluster says so by another system identifier (a dump that was loaded elsewhere) or
 * timeline (a failover, or a recovery to a moment). A copy of its files is noticed by the first workflow that knows more,
 * unless staff have said so.
 */
export const currentGeneration = raw<number>`coalesce((select generation from deployment), 1)`

/** Ids that are left out, so that none is given again that the record does not know of any more. */
const LEADS_LEFT_OUT = 1_000_000
const IDS_LEFT_OUT = 1000

/** No such table, no such column: the schema is from before there were generations. */
const OLDER_SCHEMA = ['42P01', '42703']
/** A server that still recovers answers reads with what it has by then. */
const IN_RECOVERY = Object.assign(new Error('PostgreSQL is still recovering'), { code: '57P03' })

/** What of `pg`'s client is used: a connection on which nobody else works. */
export interface Connection {
  query: (text: string) => Promise<{ rows: unknown[] }>
}

interface Cluster {
  isKnown: boolean
  isRecovering: boolean
  cause: Exclude<RestoreCause, 'staff'> | null
}

const IDENTIFIER = '(select system_identifier::text from pg_control_system())'
/** Of what is written now; `pg_control_checkpoint` has it only after a checkpoint. */
const TIMELINE = `case when not pg_is_in_recovery()
  then ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int end`

/**
 * Raises the generation if the connection leads to another cluster, or timeline, than the record knows: for each new
 * connection, before anything else is done on it, and now and then, because a pooler may keep it for another server.
 *
 * @throws {Error} that PostgreSQL is still recovering, as one that says that it is away.
 */
export async function noteCluster(connection: Connection): Promise<void> {
  const cluster = await readCluster(connection)
  if (cluster === undefined) return
  if (cluster.isRecovering) throw IN_RECOVERY
  if (cluster.isKnown && cluster.cause === null) return
  await takeNote(connection, cluster).catch((error: unknown) => {
    // a login that may only read leaves it to the next one
    if (!isDenied(error)) throw error
  })
}

/** `undefined` where it cannot be told: the schema is older, or the role may not see it. */
async function readCluster(connection: Connection): Promise<Cluster | undefined> {
  try {
    const { rows } = await connection.query(`
      select pg_is_in_recovery() as "isRecovering", system_identifier is not null as "isKnown",
        case when system_identifier <> ${IDENTIFIER} then 'system_identifier'
          when timeline <> ${TIMELINE} then 'timeline' end as cause
      from deployment`)
    return rows[0] as Cluster | undefined
  } catch (error) {
    if (OLDER_SCHEMA.includes(codeOf(error)) || isDenied(error)) return undefined
    throw error
  }
}

async function takeNote(connection: Connection, { isKnown, cause }: Cluster): Promise<void> {
  const here = `, system_identifier = ${IDENTIFIER}, timeline = ${TIMELINE}`
  if (!isKnown) {
    await connection.query(
      `update deployment set generation = generation${here} where system_identifier is null`,
    )
    return
  }
  const elsewhere = `system_identifier <> ${IDENTIFIER} or timeline <> ${TIMELINE}`
  await connection.query('begin')
  try {
    await connection.query(LOCK)
    await connection.query(raising(cause ?? 'timeline', here, elsewhere))
    await connection.query('commit')
  } catch (error) {
    await connection.query('rollback')
    throw error
  }
}

/**
 * Raises it because somebody knows that the record went back; in a transaction.
 *
 * @param from only if it is still this one.
 * @returns the generation after it.
 */
export async function raiseGeneration(trx: Sql, cause: 'staff' | 'workflow', from?: number): Promise<number> {
  await raw.raw(LOCK).execute(trx)
  await raw.raw(raising(cause, '', from === undefined ? 'true' : `generation = ${from}`)).execute(trx)
  const { generation } = await trx.selectFrom('deployment').select('generation').executeTakeFirstOrThrow()
  return generation
}

const SECONDS = `extract(epoch from clock_timestamp() - timestamptz '2026-01-01 00:00Z')::int`

/**
 * Generations count seconds, the first one too, so that none is given again: neither one that was lost itself, with what the
 * record forgot, nor one of a record that this one took the place of.
 */
export const firstGeneration = raw.raw<number>(`greatest(1, ${SECONDS})`)
const NEXT = `greatest(generation + 1, ${SECONDS})`

/** Who records reads the generation under a lock of this table, so nobody records in an earlier one after this. */
const LOCK = 'lock table leads in exclusive mode'

/**
 * Also leaves out ids, of every table: an exclusive lock keeps others from taking one meanwhile. How far the record reaches
 * is only known before a worker is at work.
 */
function raising(cause: RestoreCause, changes: string, condition: string): string {
  const reachedUntil = cause === 'staff' || cause === 'workflow' ? 'null::timestamptz' : 'alive_at'
  return `
    with raised as (
      update deployment set generation = ${NEXT}${changes} where ${condition}
      returning generation, alive_at
    ), restored as (
      insert into restores (generation, cause, reached_until)
      select generation, '${cause}', ${reachedUntil} from raised returning generation
    )
    select setval(format('%I.%I', schemaname, sequencename)::regclass, least(max_value, coalesce(last_value, 0)
      + case when sequencename = 'leads_id_seq' then ${LEADS_LEFT_OUT} else ${IDS_LEFT_OUT} end))
    from pg_sequences, restored where schemaname = current_schema()`
}
