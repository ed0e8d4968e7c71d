import type { Client } from '@temporalio/client'
import type { Logger } from 'pino'
import { Counter, type Registry } from 'prom-client'
import type { Environment } from '../../core/values/environment.ts'
import type { Sql } from '../../core/database/orm.ts'
import type { Referrals } from '../../core/leads/workflows/referrals.ts'
import { keyFaultsUntil } from './faults/statements/faults.ts'
import type { InSandbox, SandboxDependencies } from './routes/dependencies.ts'
import { createClocks } from './workflows/clocks.ts'
import { createScenarios } from './workflows/scenarios.ts'

interface Tools {
  environment: Environment
  client: Client
  sql: Sql
  referrals: Pick<Referrals, 'simulate'>
  log: Pick<Logger, 'warn'>
  sinkBase: SandboxDependencies['sinkBase']
  registry: Registry
}

/** Where keys may have faults: nothing in production. */
export const faultsOfKeys = (environment: Environment) =>
  environment === 'sandbox' ? { faultsUntil: keyFaultsUntil } : {}

/** Counts calls that met a fault which their partner injected: no other metric has them. */
export function faultCounter(registry: Registry): SandboxDependencies['countFault'] {
  const faults = new Counter({
    name: 'referrals_api_faults_injected_total',
    help: 'Calls that met a fault which their partner injected',
    labelNames: ['fault'],
    registers: [registry],
  })
  return (fault) => faults.inc({ fault })
}

/** What the sandbox's routes work with. */
export function inSandbox({
  environment,
  client,
  sql,
  referrals,
  log,
  sinkBase,
  registry,
}: Tools): InSandbox {
  if (environment !== 'sandbox') return {}
  const countFault = faultCounter(registry)
  return {
    sandbox: {
      simulate: (leadId, milestones) => referrals.simulate(leadId, milestones),
      clocks: createClocks({ client, sql }),
      scenarios: createScenarios({
        client,
        sql,
        onFailure: (err, partnerId) =>
          log.warn({ err, partner_id: partnerId }, 'a scenario is not started yet: the sweep starts it'),
      }),
      countFault,
      sinkBase,
    },
  }
}
