import type { FastifyPluginAsyncZod } from '@fastify/type-provider-zod'
import type { Client } from '@temporalio/client'
import type { FastifyPluginAsync } from 'fastify'
import type { Sql } from '../database/sql.ts'
import type { RouteDependencies } from '../http/dependencies.ts'
import type { Referrals } from '../leads/referrals.ts'
import type { Environment } from '../values.ts'
import { advanceClock, type Clocks, createClocks } from './advance-clock.ts'
import { getClock } from './get-clock.ts'
import { getSink } from './get-sink.ts'
import { receiveWebhook } from './receive-webhook.ts'
import { createScenarios, listScenarios, runScenario, type Scenarios } from './run-scenario.ts'
import { setSink } from './set-sink.ts'
import { simulateEvent } from './simulate-event.ts'
import { useSink } from './use-sink.ts'

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
  const scenarios = createScenarios(client, referrals)
  return {
    sandbox: { simulate: referrals.simulate, clocks: createClocks({ client, sql }), scenarios, sinkBase },
  }
}

type Options = RouteDependencies & InSandbox

/** Nothing in production, whatever is given. */
const sandboxOf = ({ environment, sandbox }: InSandbox & Pick<Options, 'environment'>) =>
  environment === 'sandbox' ? sandbox : undefined

/** The routes by which a partner tries the service without borrowers. */
export const sandboxRoutes: FastifyPluginAsync<Options> = async (app, options) => {
  const sandbox = sandboxOf(options)
  if (sandbox === undefined) return
  const routes: FastifyPluginAsyncZod<RouteDependencies & SandboxDependencies>[] = [
    simulateEvent,
    advanceClock,
    getClock,
    listScenarios,
    runScenario,
  ]
  for (const route of routes) await app.register(route, { ...options, ...sandbox })
}

/** Those for a sink of ours. */
export const sinkRoutes: FastifyPluginAsync<Options> = async (app, options) => {
  const sinkBase = sandboxOf(options)?.sinkBase
  if (sinkBase === undefined) return
  const routes: FastifyPluginAsyncZod<RouteDependencies & { sinkBase: () => string }>[] = [
    useSink,
    setSink,
    getSink,
  ]
  for (const route of routes) await app.register(route, { ...options, sinkBase })
}

/** Where webhooks arrive: without a key. */
export const sinks: FastifyPluginAsync<Options> = async (app, options) => {
  if (sandboxOf(options)?.sinkBase !== undefined) await app.register(receiveWebhook, options)
}
