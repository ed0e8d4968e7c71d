import type { FastifyPluginAsync } from 'fastify'
import type { SelfServiceOptions } from '../self-service.ts'
import { advanceClock, type ClockOptions } from './advance-clock.ts'
import { getClock } from './get-clock.ts'
import { getSink } from './get-sink.ts'
import { listScenarios } from './list-scenarios.ts'
import { runScenario, type ScenarioOptions } from './run-scenario.ts'
import { setSink } from './set-sink.ts'
import { simulateEvent, type SimulateOptions } from './simulate-event.ts'
import { useSink } from './use-sink.ts'

interface Options extends SimulateOptions, ClockOptions, ScenarioOptions {
  selfService: SelfServiceOptions
  /** Where the worker reaches this API, with `/v1`; absent where it does not, which then offers no sink. */
  sinkBase: (() => string) | undefined
}

/** The routes by which a partner tries the service without borrowers. Sandbox only. */
export const sandboxRoutes: FastifyPluginAsync<Options> = async (app, options) => {
  const {
    sql,
    encryptionKeys,
    simulate,
    clocks,
    webhookBody,
    startReferral,
    scenarios,
    selfService,
    sinkBase,
  } = options
  await app.register(simulateEvent, { sql, simulate })
  await app.register(advanceClock, { sql, clocks })
  await app.register(getClock, { sql, clocks })
  await app.register(listScenarios)
  await app.register(runScenario, { sql, encryptionKeys, webhookBody, startReferral, scenarios })
  if (sinkBase === undefined) return
  await app.register(useSink, { ...selfService, sinkBase })
  await app.register(setSink, { sql })
  await app.register(getSink, { sql, sinkBase })
}
