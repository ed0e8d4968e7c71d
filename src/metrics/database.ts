import type { Registry } from 'prom-client'
import { registerGauge } from './waiting.ts'

/** Registers whether PostgreSQL serves a worker. */
export function registerWorkerDatabase(registry: Registry, isDatabaseUp: () => Promise<boolean>): void {
  registerGauge(
    registry,
    'referrals_worker_database_up',
    'Whether PostgreSQL answers this process: 1 or 0',
    async () => ((await isDatabaseUp()) ? 1 : 0),
  )
}
