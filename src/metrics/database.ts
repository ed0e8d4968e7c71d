import { Gauge, type Registry } from 'prom-client'
import { clockAheadSeconds } from '../core/database/clock.ts'
import type { PoolUse, Sql } from '../core/database/orm.ts'
import { cached, registerGauge } from './waiting.ts'

export interface DatabaseUse {
  sql: Sql
  pool: () => PoolUse
}

/** Registers how a process uses PostgreSQL: its connections, and how far the two clocks are apart. */
export function registerDatabaseUse(registry: Registry, { sql, pool }: DatabaseUse): void {
  const connections: Gauge<'state'> = new Gauge({
    name: 'referrals_database_connections',
    help: 'Connections to PostgreSQL of this process, by what they do',
    labelNames: ['state'],
    registers: [registry],
    collect() {
      const { used, idle } = pool()
      connections.set({ state: 'used' }, used)
      connections.set({ state: 'idle' }, idle)
    },
  })
  registerGauge(
    registry,
    'referrals_database_connections_limit',
    'Connections to PostgreSQL that this process may have',
    async () => pool().limit,
  )
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

/** Registers whether the API can work with PostgreSQL. */
export function registerApiDatabase(registry: Registry, isDatabaseUp: () => Promise<boolean>): void {
  registerGauge(
    registry,
    'referrals_api_database_up',
    'Whether PostgreSQL answers this process, and its record can be used: 1 or 0',
    async () => ((await isDatabaseUp()) ? 1 : 0),
  )
}

/** Registers whether PostgreSQL serves a worker. */
export function registerWorkerDatabase(registry: Registry, isDatabaseUp: () => Promise<boolean>): void {
  registerGauge(
    registry,
    'referrals_worker_database_up',
    'Whether PostgreSQL answers this process: 1 or 0',
    async () => ((await isDatabaseUp()) ? 1 : 0),
  )
}
