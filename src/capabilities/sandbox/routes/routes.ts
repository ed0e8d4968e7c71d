import type { FastifyPluginAsync } from 'fastify'
import type { SelfServiceOptions } from '../../self-service/routes/self-service.ts'
import { advanceClock, type ClockOptions } from './advance-clock.ts'
import { named } from '../../../core/http/named.ts'
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
  await app.register(named(simulateEvent), { sql, simulate })
  await app.register(named(advanceClock), { sql, clocks })
  await app.register(named(getClock), { sql, clocks })
  await app.register(named(listScenarios))
  await app.register(named(runScenario), { sql, encryptionKeys, webhookBody, startReferral, scenarios })
  if (sinkBase === undefined) return
  await app.register(named(useSink), { ...selfService, sinkBase })
  await app.register(named(setSink), { sql })
  await app.register(named(getSink), { sql, sinkBase })
}
