import type { Client } from '@temporalio/client'
import type { Sql } from '../database/sql.ts'
import type { RouteDependencies } from '../http/dependencies.ts'
import type { Referrals } from '../leads/referrals.ts'
import type { Environment } from '../values.ts'
import { type Clocks, createClocks, createScenarios, type Scenarios } from './clocks.ts'

/** What partners try the service with. */
export interface SandboxDependencies {
  simulate: Referrals['simulate']
  clocks: Clocks
  scenarios: Scenarios
  /** Where the worker reaches this API, with `/v1`; absent where it does not, which then offers no sink. */
  sinkBase?: (() => string) | undefined
}

export interface InSandbox {
  sandbox?: SandboxDependencies | undefined
}

/** Nothing in production, whatever is given. */
export const sandboxOf = ({ environment, sandbox }: InSandbox & Pick<RouteDependencies, 'environment'>) =>
  environment === 'sandbox' ? sandbox : undefined

/** Of which each route picks what it needs. */
export interface SandboxRouteDependencies extends RouteDependencies, SandboxDependencies {}

/** Of which each route of the sink does. */
export interface SinkRouteDependencies extends RouteDependencies {
  sinkBase: () => string
}

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
