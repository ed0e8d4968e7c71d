import { setTimeout as delay } from 'node:timers/promises'
import { type EntityManager, MikroORM } from '@mikro-orm/postgresql'
import { sql as raw } from 'kysely'
import { giveKeys } from './migration-keys.ts'
import { ormOptions } from './mikro-orm.config.ts'
import type { Patience } from './session-options.ts'
import type { Sql, Tables } from './tables.ts'

export type { Sql } from './tables.ts'

/** Connects lazily: the first query opens the first connection. */
export async function connect(databaseUrl: string, patience?: Patience) {
  return MikroORM.init(ormOptions(databaseUrl, patience))
}

export type Orm = Awaited<ReturnType<typeof connect>>
export type Em = EntityManager

const MIGRATION_LOCK = 7_247_000
const LOCK_POLL_MS = 100

/**
 * Brings the schema up to date. Two processes that try at once take turns, under an advisory lock. It is polled:
 * a statement that waits holds a snapshot, and `create index concurrently` waits until all older ones are gone.
 *
 * @param encryptionKeys needed by a migration that finds data to encrypt.
 * @returns how many migrations were applied.
 */
export async function migrate(orm: Orm, encryptionKeys: readonly Buffer[] = []): Promise<number> {
  giveKeys(orm.config, encryptionKeys)
  const lock = raw<{ locked: boolean }>`select pg_try_advisory_lock(${MIGRATION_LOCK}) as locked`
  return sqlOf(orm)
    .connection()
    .execute(async (connection) => {
      while ((await lock.execute(connection)).rows[0]?.locked !== true) await delay(LOCK_POLL_MS)
      try {
        return (await orm.migrator.up()).length
      } finally {
        await raw`select pg_advisory_unlock(${MIGRATION_LOCK})`.execute(connection)
      }
    })
}

export function sqlOf(orm: Orm): Sql {
  return orm.em.getKysely<Tables>()
}

/** Typed SQL in the transaction that `em` is in. */
export function sqlIn(em: Em): Sql {
  return em.getKysely<Tables>()
}

/** Whether PostgreSQL answers. */
export async function isReachable(sql: Sql): Promise<boolean> {
  await raw`select 1`.execute(sql)
  return true
}
