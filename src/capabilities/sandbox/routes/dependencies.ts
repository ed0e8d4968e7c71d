import type { RouteDependencies } from '../../../core/http/dependencies.ts'
import type { Referrals } from '../../../core/leads/workflows/referrals.ts'
import type { Clocks } from '../workflows/clocks.ts'
import type { Scenarios } from '../workflows/scenarios.ts'

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
