import { Gauge, type Registry } from 'prom-client'
import type { Build } from '../config/build.ts'
import { type Certificates, registerCertificates } from './certificates.ts'
import { type DatabaseUse, registerDatabaseUse } from './database.ts'
import { cached, registerGauge } from './waiting.ts'

/** What API and worker have in common. */
interface Process extends DatabaseUse {
  build: Build
  /** Rejects when Temporal does not answer this process. */
  reachTemporal: () => Promise<unknown>
  certificates: Certificates
}

/**
 * Names the build on every series, so that those of two builds that follow each other at one address stay apart. And
 * registers which build a process is, and how it stands with what it needs. Before everything that asks PostgreSQL: else
 * the reading itself would be seen to wait for connections.
 */
export function registerProcess(registry: Registry, process: Process): void {
  registry.setDefaultLabels({ build: process.build.build })
  registerBuild(registry, process.build)
  registerDatabaseUse(registry, process)
  registerTemporal(registry, process.reachTemporal)
  registerCertificates(registry, process.certificates)
}

function registerBuild(registry: Registry, build: Build): void {
  const gauge = new Gauge({
    name: 'referrals_build_info',
    help: 'Always 1: its labels say which build this process runs',
    labelNames: ['version', 'build', 'commit'],
    registers: [registry],
  })
  gauge.set({ ...build }, 1)
}

function registerTemporal(registry: Registry, reach: () => Promise<unknown>): void {
  const hasAnswered = cached(async () => reach().then(() => true))
  registerGauge(
    registry,
    'referrals_temporal_up',
    'Whether Temporal answers this process: 1 or 0',
    async () => ((await hasAnswered()) ? 1 : 0),
  )
}
