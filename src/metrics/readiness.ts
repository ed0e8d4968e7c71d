import type { Registry } from 'prom-client'
import { cached, registerGauge } from './waiting.ts'

/** Registers whether a worker gets work, as `/readyz` says it. */
export function registerReadiness(registry: Registry, findFault: () => Promise<string | undefined>): void {
  const isReady = cached(async () => (await findFault()) === undefined)
  registerGauge(
    registry,
    'referrals_worker_ready',
    'Whether this worker polls Temporal and gets work: 1 or 0',
    async () => ((await isReady()) ? 1 : 0),
  )
}
