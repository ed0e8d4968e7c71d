import type { Client } from '@temporalio/client'
import type { Environment } from '../../core/values/environment.ts'
import type { Sql } from '../../core/database/sql.ts'
import type { Referrals } from '../../core/leads/workflows/referrals.ts'
import type { InSandbox, SandboxDependencies } from './routes/dependencies.ts'
import { createClocks } from './workflows/clocks.ts'
import { createScenarios } from './workflows/scenarios.ts'

interface Tools {
  environment: Environment
  client: Client
  sql: Sql
  referrals: Pick<Referrals, 'simulate' | 'update'>
  sinkBase: SandboxDependencies['sinkBase']
}

/** What the sandbox's routes work with. */
export function inSandbox({ environment, client, sql, referrals, sinkBase }: Tools): InSandbox {
  if (environment !== 'sandbox') return {}
  return {
    sandbox: {
      simulate: (leadId, milestones) => referrals.simulate(leadId, milestones),
      clocks: createClocks({ client, sql }),
      scenarios: createScenarios(client, referrals),
      sinkBase,
    },
  }
}
