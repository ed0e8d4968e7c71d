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
} from '../src/sandbox/lead-clock.ts'
import { happenedSince, moveClock, readClock } from '../src/sandbox/lead-time.ts'
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
  return async (leadId: number, { target, failures: before, since }: ClockStep): Promise<ClockPassed> => {
    // people can start any workflow, with any input, in the Temporal Web UI
    if (environment !== 'sandbox')
      throw ApplicationFailure.nonRetryable('possible in a sandbox only', 'NoSandbox')
    const clock = await readClock(sql, leadId)
    // erased meanwhile
    if (clock === undefined) return { offset: 0, happened: [], next: null, stopped: null }
    const { first, longest } = LOOK_AGAIN_MS
    if (isBusy(clock))
      throw again('what is due has not happened yet', Math.min(first * activityInfo().attempt, longest))
    const { now, offset, mark } = clock
    const failures = clock.open?.failures ?? 0
    // what was due before the first step is not told
    const happened = since === undefined ? [] : await happenedSince(sql, clock, since)
    const passed: ClockPassed = { offset, happened, next: null, stopped: null }
    // the schedule takes as long as an endpoint may fail, and would give up what a working endpoint refuses
    if (before !== undefined && failures > before && isLastScheduled(failures))
      return { ...passed, stopped: 'endpoint_would_pause' }
    if (typeof target === 'string') {
      const date = dateOf(clock, target)
      // an attempt after a crash must not look for the one after it
      return { ...passed, next: date === undefined ? null : { target: date, failures, since: mark } }
    }
    if (now >= target) return passed
    if (target > furthestOf(clock)) return { ...passed, stopped: 'twenty_years_ahead' }
    const seconds = Math.ceil((Math.min(dueDates(clock)[0]?.at ?? target, target) - now) / SECOND_MS)
    await moveClock(sql, clock, seconds)
    return { ...passed, offset: offset + seconds * SECOND_MS, next: { target, failures, since: mark } }
  }
}
