import type { FastifyPluginAsync } from 'fastify'
import type { EndpointDependencies } from '../endpoints/own-endpoint.ts'
import { limitInFlight } from '../http/limit-in-flight.ts'
import { advanceClock } from './advance-clock.ts'
import { type AskingOptions, type SandboxDependencies, tooManyAdvances } from './ask-lead.ts'
import { getClock } from './get-clock.ts'
import { getSink } from './get-sink.ts'
import { MOST_ADVANCES } from './lead-clock.ts'
import { receiveWebhook } from './receive-webhook.ts'
import { listScenarios, runScenario } from './run-scenario.ts'
import { setSink } from './set-sink.ts'
import { simulateEvent } from './simulate-event.ts'
import { useSink } from './use-sink.ts'

export interface SandboxOptions extends EndpointDependencies {
  /** Unused in production. */
  sandbox: SandboxDependencies
}

/** The routes by which a partner tries the service without borrowers. */
export const sandboxRoutes: FastifyPluginAsync<SandboxOptions> = async (app, { sandbox, ...options }) => {
  if (options.environment !== 'sandbox') return
  const limitAdvances = limitInFlight(MOST_ADVANCES, tooManyAdvances)
  for (const route of [simulateEvent, advanceClock, getClock, listScenarios, runScenario])
    await app.register<AskingOptions>(route, { ...options, ...sandbox, limitAdvances })
  const { sinkBase } = sandbox
  if (sinkBase === undefined) return
  for (const route of [useSink, setSink, getSink]) await app.register(route, { ...options, sinkBase })
}

/** Where webhooks arrive: without a key. */
export const sinks: FastifyPluginAsync<SandboxOptions> = async (app, options) => {
  const { environment, sandbox } = options
  if (environment === 'sandbox' && sandbox.sinkBase !== undefined) await app.register(receiveWebhook, options)
}
