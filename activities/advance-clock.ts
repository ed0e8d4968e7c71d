import { activityInfo, ApplicationFailure } from '@temporalio/activity'
import type { Sql } from '../src/database/sql.ts'
import { isLastScheduled } from '../src/deliveries/retry-schedule.ts'
import {
  type ClockPassed,
  type ClockStep,
  dateOf,
  dueDates,
  furthestOf,
  isBusy,
  type LeadClock,
} from '../src/sandbox/lead-clock.ts'
import { clockStart, happenedSince, moveClock, readLeadClock } from '../src/sandbox/lead-time.ts'
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
    // erased meanwhile
    if (clock === undefined) return { offset: 0, next: null, happened: [] }
    const { first, longest } = LOOK_AGAIN_MS
    if (isBusy(clock))
      throw again('what is due has not happened yet', Math.min(first * activityInfo().attempt, longest))
    const offset = clock.offsetSeconds * SECOND_MS
    const { happened, since } = await happenedUntil(sql, clock, step)
    const failures = clock.open?.failures ?? 0
    // the schedule takes as long as an endpoint may fail, and would give up what a working endpoint refuses
    if (step.failures !== null && failures > step.failures && isLastScheduled(failures))
      return { offset, next: null, stopped: 'endpoint_would_pause', happened }
    if (typeof step.target === 'string') {
      const target = dateOf(clock, step.target)
      // an attempt after a crash must not look for the one after it
      return { offset, next: target === undefined ? null : { ...step, target, failures, since }, happened }
    }
    const { target } = step
    if (clock.now >= target) return { offset, next: null, happened }
    if (target > furthestOf(clock)) return { offset, next: null, stopped: 'twenty_years_ahead', happened }
    const to = Math.min(dueDates(clock)[0]?.at ?? target, target)
    const seconds = Math.ceil((to - clock.now) / SECOND_MS)
    await moveClock(sql, clock, seconds)
    return { offset: offset + seconds * SECOND_MS, next: { ...step, failures, since }, happened }
  }
}

/** What has happened since the step before, and from where to tell on. What was due before the first step is not told. */
async function happenedUntil(sql: Sql, clock: LeadClock, { isTold, since }: ClockStep) {
  if (!isTold) return { happened: [], since }
  if (since === undefined) return { happened: [], since: await clockStart(sql, clock.leadId) }
  return happenedSince(sql, clock.leadId, since, clock)
}
