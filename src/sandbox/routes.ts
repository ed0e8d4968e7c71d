import type { Client } from '@temporalio/client'
import type { FastifyPluginAsync } from 'fastify'
import { type ReferralView, stateQuery } from '../../workflows/messages.ts'
import type { RouteDependencies } from '../http/dependencies.ts'
import { limitInFlight } from '../http/in-flight.ts'
import type { Referrals } from '../leads/referrals.ts'
import { reachTemporal } from '../temporal/client.ts'
import { referralId } from '../temporal/names.ts'
import { advanceClock } from './advance-clock.ts'
import { tooManyAdvances } from './ask-lead.ts'
import { getClock } from './get-clock.ts'
import { getSink } from './get-sink.ts'
import { MOST_ADVANCES } from './lead-clock.ts'
import { receiveWebhook } from './receive-webhook.ts'
import { listScenarios, runScenario } from './run-scenario.ts'
import { setSink } from './set-sink.ts'
import { simulateEvent } from './simulate-event.ts'
import { useSink } from './use-sink.ts'

const LOOK_MS = 2000

interface Reached {
  referrals: Pick<Referrals, 'update'>
  /** Where the worker reaches this API, with `/v1`; absent where it does not, which then offers no sink. */
  sinkBase?: (() => string) | undefined
}

/** What partners try the service with. */
export const createSandbox = (client: Client, { referrals, sinkBase }: Reached) => ({
  referrals,
  sinkBase,
  /** Rejects while Temporal is away. */
  reachTemporal: async () => reachTemporal(client),
  /** Whether a lead's clock moves. Not while Temporal is away, or has no worker. */
  async isMoving(leadId: number): Promise<boolean> {
    const ask = async () => client.workflow.getHandle(referralId(leadId)).query<ReferralView>(stateQuery)
    const view = await client.withDeadline(Date.now() + LOOK_MS, ask).catch(() => undefined)
    return view?.moving === true
  },
})

export type SandboxDependencies = ReturnType<typeof createSandbox>

export interface SandboxOptions extends RouteDependencies {
  /** Unused in production. */
  sandbox: SandboxDependencies
}

/** The routes by which a partner tries the service without borrowers. */
export const sandboxRoutes: FastifyPluginAsync<SandboxOptions> = async (app, { sandbox, ...options }) => {
  if (options.environment !== 'sandbox') return
  const limitAdvances = limitInFlight(MOST_ADVANCES, tooManyAdvances)
  const given = { ...options, ...sandbox, limitAdvances }
  for (const route of [simulateEvent, advanceClock, getClock, listScenarios, runScenario])
    await app.register<typeof given>(route, given)
  const { sinkBase } = sandbox
  if (sinkBase === undefined) return
  for (const route of [useSink, setSink, getSink]) await app.register(route, { ...options, sinkBase })
}

/** Where webhooks arrive: without a key. */
export const sinks: FastifyPluginAsync<SandboxOptions> = async (app, options) => {
  const { environment, sandbox } = options
  if (environment === 'sandbox' && sandbox.sinkBase !== undefined) await app.register(receiveWebhook, options)
}
