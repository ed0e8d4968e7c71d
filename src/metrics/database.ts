import type { Registry } from 'prom-client'
import { clockAheadSeconds } from '../core/database/clock.ts'
import type { PoolUse } from '../core/database/orm.ts'
import type { Sql } from '../core/database/sql.ts'
import { cached, registerGauge } from './waiting.ts'

export interface DatabaseUse {
  sql: Sql
  pool: () => PoolUse
}

/** Registers how a process uses PostgreSQL: who waits for a connection, and how far the two clocks are apart. */
export function registerDatabaseUse(registry: Registry, { sql, pool }: DatabaseUse): void {
  registerGauge(
    registry,
    'referrals_database_connections_waiting',
    'Statements of this process that wait for a connection',
    async () => pool().waiting,
  )
  const clock = cached(async () => clockAheadSeconds(sql))
  registerGauge(
    registry,
    'referrals_database_clock_difference_seconds',
    'How far the clock of this process is ahead of PostgreSQL’s',
    clock,
  )
}

/** Registers whether a process can work with PostgreSQL. */
export function registerDatabaseUp(registry: Registry, isDatabaseUp: () => Promise<boolean>): void {
  registerGauge(
    registry,
    'referrals_database_up',
    'Whether PostgreSQL answers this process, and its record can be used: 1 or 0',
    async () => ((await isDatabaseUp()) ? 1 : 0),
  )
}
