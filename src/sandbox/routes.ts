import type { FastifyPluginAsync } from 'fastify'
import type { RouteDependencies } from '../http/dependencies.ts'
import { registerAll } from '../http/register-all.ts'
import { advanceClock } from './advance-clock.ts'
import { type InSandbox, sandboxOf } from './dependencies.ts'
import { getClock } from './get-clock.ts'
import { getSink } from './get-sink.ts'
import { listScenarios } from './list-scenarios.ts'
import { runScenario } from './run-scenario.ts'
import { setSink } from './set-sink.ts'
import { simulateEvent } from './simulate-event.ts'
import { sink } from './receive-webhook.ts'

type Options = RouteDependencies & InSandbox

/** The routes by which a partner tries the service without borrowers. */
export const sandboxRoutes: FastifyPluginAsync<Options> = async (app, options) => {
  const sandbox = sandboxOf(options)
  const routes = [simulateEvent, advanceClock, getClock, listScenarios, runScenario]
  if (sandbox !== undefined) await registerAll(app, routes, { ...options, ...sandbox })
}

/** Those for a sink that is in use. */
export const sinkRoutes: FastifyPluginAsync<Options> = async (app, options) => {
  const sandbox = sandboxOf(options)
  const { sinkBase } = sandbox ?? {}
  if (sinkBase !== undefined) await registerAll(app, [setSink, getSink], { ...options, sinkBase })
}

/** Where webhooks arrive: without a key. */
export const sinks: FastifyPluginAsync<Options> = async (app, options) => {
  const sandbox = sandboxOf(options)
  if (sandbox?.sinkBase !== undefined) await registerAll(app, [sink], options)
}
