import type { FastifyPluginAsync } from 'fastify'
import { named } from '../../../core/http/named.ts'
import { advanceClock, type ClockOptions } from './advance-clock.ts'
import { getClock } from './get-clock.ts'
import { getSink, type SinkOptions } from './get-sink.ts'
import { listScenarios } from './list-scenarios.ts'
import { runScenario, type ScenarioOptions } from './run-scenario.ts'
import { setSink } from './set-sink.ts'
import { simulateEvent, type SimulateOptions } from './simulate-event.ts'

type Options = SimulateOptions & ClockOptions & ScenarioOptions

/** The routes by which a partner tries the service without borrowers. Sandbox only. */
export const sandboxRoutes: FastifyPluginAsync<Options> = async (app, options) => {
  const { sql, encryptionKeys, simulate, clocks, webhookBody, startReferral, scenarios } = options
  await app.register(named(simulateEvent), { sql, simulate })
  await app.register(named(advanceClock), { sql, clocks })
  await app.register(named(getClock), { sql, clocks })
  await app.register(named(listScenarios))
  await app.register(named(runScenario), { sql, encryptionKeys, webhookBody, startReferral, scenarios })
}

/** Those for a sink that is in use. */
export const sinkRoutes: FastifyPluginAsync<SinkOptions> = async (app, { sql, sinkBase }) => {
  await app.register(named(setSink), { sql })
  await app.register(named(getSink), { sql, sinkBase })
}
