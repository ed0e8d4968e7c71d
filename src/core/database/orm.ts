import { MikroORM } from '@mikro-orm/postgresql'
import { ormOptions, type Pool, type PoolOptions } from './mikro-orm.config.ts'
import type { Patience } from './session-options.ts'

/** Connections of a process. */
export interface PoolUse {
  used: number
  /** Statements that wait for one. */
  waiting: number
}

/** Connects lazily: the first query opens the first connection. */
export async function connect(databaseUrl: string, patience?: Patience, pool?: PoolOptions) {
  return MikroORM.init(ormOptions(databaseUrl, patience, pool))
}

export interface DatabaseSettings {
  DATABASE_URL: string
  DATABASE_POOL: number
}

/** As `connect`, for API and worker: with what is known of their connections. */
export async function connectCounted(settings: DatabaseSettings, patience: Patience) {
  const { DATABASE_URL, DATABASE_POOL: connections } = settings
  let pool: Pool | undefined
  const onPool = (made: Pool) => (pool = made)
  const orm = await connect(DATABASE_URL, patience, { connections, onPool })
  const poolUse = (): PoolUse => {
    const { totalCount = 0, idleCount = 0, waitingCount: waiting = 0 } = pool ?? {}
    return { used: totalCount - idleCount, waiting }
  }
  return { orm, poolUse }
}

export type Orm = Awaited<ReturnType<typeof connect>>
