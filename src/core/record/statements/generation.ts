import { sql as raw } from 'kysely'
import type { Sql } from '../../../tables.ts'
import { codeOf, isDenied } from '../../database/error-codes.ts'

/**
 * The generation of the record: raised when PostgreSQL may have come back with less than it had, so that a workflow or a
 * partner that knew more can tell. The cluster shows it by another system identifier (a dump that was loaded elsewhere) or
 * timeline (a failover, or a recovery to a moment). A copy of its files is noticed by the first workflow that knows more,
 * unless staff declare it before.
 *
 * How it is raised: src/core/database/migrations/initial/generation.ts.
 */
export const currentGeneration = raw<number>`coalesce((select generation from deployment), 1)`

/** The generation that a record begins with. */
export const firstGeneration = raw<number>`next_generation(0)`

/** No such table, column or function: the schema is not made yet. */
const OTHER_SCHEMA = ['42P01', '42703', '42883']
/** A server that still recovers answers reads with what it has by then. */
const IN_RECOVERY = Object.assign(new Error('PostgreSQL is still recovering'), { code: '57P03' })

/** What of `pg`'s client is used: a connection on which nobody else works. */
export interface Connection {
  query: (text: string) => Promise<{ rows: unknown[] }>
}

interface Cluster {
  isRecovering: boolean
  /** Whether it is the one that the record knows. */
  isKnown: boolean
}

/**
 * Raises the generation if the connection leads to another cluster, or timeline, than the record knows: for each new
 * connection, before anything else is done on it, and now and then.
 *
 * @throws {Error} that PostgreSQL is still recovering, as one that says that it is away.
 */
export async function noteCluster(connection: Connection): Promise<void> {
  const cluster = await readCluster(connection)
  if (cluster === undefined) return
  if (cluster.isRecovering) throw IN_RECOVERY
  if (cluster.isKnown) return
  await connection.query('select note_cluster()').catch((error: unknown) => {
    // a login that may only read leaves it to the next one
    if (!isDenied(error)) throw error
  })
}

/** `undefined` where it cannot be told: the schema is not made yet, or the role may not see it. */
async function readCluster(connection: Connection): Promise<Cluster | undefined> {
  try {
    const { rows } = await connection.query(`
      select pg_is_in_recovery() as "isRecovering",
        coalesce((known.system_identifier, known.timeline) = (here.system_identifier, here.timeline), false) as "isKnown"
      from deployment known, current_cluster() here`)
    return rows[0] as Cluster | undefined
  } catch (error) {
    if (OTHER_SCHEMA.includes(codeOf(error)) || isDenied(error)) return undefined
    throw error
  }
}

/**
 * Raises it because staff or a workflow know that the record went back; in a transaction.
 *
 * @param from only if it is still this one.
 * @returns the generation after it.
 */
export async function raiseGeneration(trx: Sql, cause: 'staff' | 'workflow', from?: number): Promise<number> {
  const raised = raw<number>`raise_generation(${cause}, ${from ?? null}::int)`
  const { generation } = await trx.selectNoFrom(raised.as('generation')).executeTakeFirstOrThrow()
  return generation
}
