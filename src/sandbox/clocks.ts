import type { Client } from '@temporalio/client'
import {
  advanceClockUpdate,
  CLOCK_MOVING,
  LEAD_CLOSED,
  type ReferralView,
  runScenarioUpdate,
  stateQuery,
} from '../../workflows/messages.ts'
import type { Sql } from '../database/sql.ts'
import { createReferrals, isUnanswered, type Referrals, refusalOf } from '../leads/referrals.ts'
import { isPolling } from '../temporal/away.ts'
import { reachTemporal } from '../temporal/client.ts'
import { referralId } from '../temporal/names.ts'
import {
  type Advance,
  type AdvanceRequest,
  type ClockStart,
  type ClockTarget,
  furthestOf,
  isBusy,
  type LeadClock,
  targetOf,
} from './lead-clock.ts'
import { clockStart, happenedSince, readLeadClock } from './lead-time.ts'
import type { ScenarioEnd, ScenarioName } from './scenarios.ts'

/** How long a response waits for the clock. */
export const WAIT_MS = 10_000
const LOOK_MS = 2000

/** `advancing`: the advance continues after the response. */
export type AdvanceOutcome =
  ({ kind: 'done' | 'advancing'; clock: LeadClock } & Advance) | { kind: 'moving' | 'too_far' | 'unanswered' }

export interface Clocks {
  /** Moves a lead's clock and waits for it, ten seconds at most. `undefined` if there is no such lead. */
  advance(leadId: number, target: ClockTarget): Promise<AdvanceOutcome | undefined>
  isMoving(leadId: number): Promise<boolean>
}

/** The one way in which leads' clocks are moved: sandbox only. */
export function createClocks({ client, sql }: { client: Client; sql: Sql }): Clocks {
  const referrals = createReferrals({ client, sql, callLimitMs: WAIT_MS })

  async function advance(leadId: number, to: ClockTarget): Promise<AdvanceOutcome | undefined> {
    const clock = await readLeadClock(sql, leadId)
    if (clock === undefined) return undefined
    const target = aim(clock, to)
    if (target === undefined) return { kind: 'done', clock, happened: [] }
    if (target !== 'next_retry' && target > furthestOf(clock)) return { kind: 'too_far' }
    const since = await clockStart(sql, leadId)
    try {
      const advanced = await referrals.update(leadId, advanceClockUpdate, [{ target, since }])
      return await standing('done', leadId, advanced ?? { happened: [] })
    } catch (error) {
      if (refusalOf(error) === CLOCK_MOVING) return { kind: 'moving' }
      if (isUnanswered(error)) return unfinished(leadId, since)
      throw error
    }
  }

  async function standing(kind: 'done' | 'advancing', leadId: number, advanced: Advance) {
    const clock = await readLeadClock(sql, leadId)
    return clock && { kind, clock, ...advanced }
  }

  /** It goes on by itself, unless there is no worker. */
  async function unfinished(leadId: number, since: ClockStart): Promise<AdvanceOutcome | undefined> {
    if (!(await isPolling(client).catch(() => false))) return { kind: 'unanswered' }
    return standing('advancing', leadId, await happenedSince(sql, leadId, since))
  }

  /** Not while Temporal is away, or has no worker. */
  async function isMoving(leadId: number): Promise<boolean> {
    const ask = async () => client.workflow.getHandle(referralId(leadId)).query<ReferralView>(stateQuery)
    const view = await client.withDeadline(Date.now() + LOOK_MS, ask).catch(() => undefined)
    return view?.moving === true
  }

  return { advance, isMoving }
}

/** In milliseconds of the lead's time; `undefined` if nothing of it is due ever. What is due now may make a retry due. */
function aim(clock: LeadClock, to: ClockTarget): AdvanceRequest['target'] | undefined {
  if ('to' in to && to.to === 'next_retry' && isBusy(clock)) return 'next_retry'
  return targetOf(clock, to)
}

export interface Scenarios {
  /** Rejects while Temporal is away: asked before a lead is made. */
  requireTemporal(): Promise<void>
  /** Has a lead's workflow play a scenario, and waits for its end, eight seconds at most: `running`. */
  run(leadId: number, scenario: ScenarioName): Promise<ScenarioEnd | 'running' | 'moving'>
}

/** The one way in which scenarios are started, but for those that an address names. */
export function createScenarios(client: Client, referrals: Pick<Referrals, 'update'>): Scenarios {
  return {
    requireTemporal: async () => reachTemporal(client),
    async run(leadId, scenario) {
      try {
        return (await referrals.update(leadId, runScenarioUpdate, [{ scenario }])) ?? 'closed'
      } catch (error) {
        const refusal = refusalOf(error)
        if (refusal === CLOCK_MOVING) return 'moving'
        if (refusal === LEAD_CLOSED) return 'closed'
        throw error
      }
    },
  }
}
