import type { Client } from '@temporalio/client'
import type { Logger } from 'pino'
import type { Environment } from '../../core/values/environment.ts'
import type { Sql } from '../../core/database/orm.ts'
import type { Referrals } from '../../core/leads/workflows/referrals.ts'
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
}

/** What the sandbox's routes work with. */
export function inSandbox({ environment, client, sql, referrals, log, sinkBase }: Tools): InSandbox {
  if (environment !== 'sandbox') return {}
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
      sinkBase,
    },
  }
}
