import { activityInfo, ApplicationFailure } from '@temporalio/activity'
import type { Sql } from '../src/database/sql.ts'
import { PAUSE_AFTER_MS } from '../src/deliveries/retry-schedule.ts'
import {
  type ClockPassed,
  type ClockStep,
  isBusy,
  type LeadClock,
  targetOf,
} from '../src/sandbox/lead-clock.ts'
import {
  clockStart,
  failingForMs,
  happenedSince,
  moveClock,
  nextDue,
  readLeadClock,
} from '../src/sandbox/lead-time.ts'
import type { Environment } from '../src/values.ts'
import { again } from './activity-context.ts'

const SECOND_MS = 1000
/** When to look again whether what is due has happened: the longer it takes, the later. */
const LOOK_AGAIN_MS = { first: 100, longest: 5000 }

/**
 * Moves a lead's clock to the next date on the way, once nothing is due any more where it stands. An attempt after a crash
 * moves it on from there.
 */
export function advanceClockActivity({ sql, environment }: { sql: Sql; environment: Environment }) {
  return async (leadId: number, step: ClockStep): Promise<ClockPassed> => {
    // people can start any workflow, with any input, in the Temporal Web UI
    if (environment !== 'sandbox')
      throw ApplicationFailure.nonRetryable('possible in a sandbox only', 'NoSandbox')
    const clock = await readLeadClock(sql, leadId)
    if (clock === undefined) throw ApplicationFailure.nonRetryable('there is no such lead', 'UnknownLead')
    const { first, longest } = LOOK_AGAIN_MS
    if (isBusy(clock))
      throw again('what is due has not happened yet', Math.min(first * activityInfo().attempt, longest))
    const { happened, since } = await happenedUntil(sql, clock, step)
    const failures = clock.open?.failures ?? 0
    const passed = { happened, offset: clock.offsetSeconds * SECOND_MS, next: null }
    const isFailing = step.failures !== null && failures > step.failures
    if (isFailing && (await failingForMs(sql, leadId)) >= PAUSE_AFTER_MS)
      return { ...passed, stopped: 'endpoint_would_pause' }
    const target = step.target === 'next_retry' ? targetOf(clock, { to: 'next_retry' }) : step.target
    if (target === undefined || clock.now >= target) return passed
    const seconds = await moveClock(sql, leadId, Math.min(nextDue(clock)?.at ?? target, target))
    const next = { ...step, target, since, failures, isClosed: clock.isClosed }
    return { happened, offset: (seconds ?? clock.offsetSeconds) * SECOND_MS, next }
  }
}

/**
 * What has happened since the previous step. A scenario reports nothing. An advance to the next retry reports nothing that
 * was due before it.
 */
async function happenedUntil(sql: Sql, clock: LeadClock, { target, since, isClosed }: ClockStep) {
  if (since === null) return { happened: [], since }
  if (target === 'next_retry') return { happened: [], since: await clockStart(sql, clock.leadId) }
  const found = await happenedSince(sql, clock.leadId, since, clock.offsetSeconds)
  if (clock.isClosed && !isClosed) found.happened.push({ what: 'end', at: clock.now })
  return found
}
