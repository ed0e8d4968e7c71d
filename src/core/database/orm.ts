import { type EntityManager, MikroORM } from '@mikro-orm/postgresql'
import { sql as raw } from 'kysely'
import { MOST_CONNECTIONS, ormOptions, type Pool } from './mikro-orm.config.ts'
import type { Patience } from './session-options.ts'
import type { Sql, Tables } from '../../tables.ts'

export type { Sql } from '../../tables.ts'

/** Connections of a process. */
export interface PoolUse {
  used: number
  idle: number
  /** Statements that wait for one. */
  waiting: number
  limit: number
}

/**
 * Connects lazily: the first query opens the first connection.
 *
 * @param onPool is told once of the pool of connections.
 */
export async function connect(databaseUrl: string, patience?: Patience, onPool?: (pool: Pool) => void) {
  return MikroORM.init(ormOptions(databaseUrl, patience, onPool))
}

/** As `connect`, with what is known of its connections. */
export async function connectCounted(databaseUrl: string, patience: Patience) {
  let pool: Pool | undefined
  const orm = await connect(databaseUrl, patience, (made) => (pool = made))
  const poolUse = (): PoolUse => {
    const { totalCount = 0, idleCount: idle = 0, waitingCount: waiting = 0 } = pool ?? {}
    return { used: totalCount - idle, idle, waiting, limit: MOST_CONNECTIONS }
  }
  return { orm, poolUse }
}

export type Orm = Awaited<ReturnType<typeof connect>>
export type Em = EntityManager

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
