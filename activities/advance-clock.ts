import { sleep } from '@temporalio/activity'
import type { Sql } from '../src/database/sql.ts'
import { isLastScheduled } from '../src/deliveries/retry-schedule.ts'
import {
  type ClockStep,
  type ClockStop,
  dateOf,
  dueDates,
  furthestOf,
  isBusy,
} from '../src/sandbox/lead-clock.ts'
import { moveClock, readClock } from '../src/sandbox/lead-time.ts'

const SECOND_MS = 1000
/** Looks in one try whether what is due has happened: within six seconds, at growing intervals. */
const LOOKS = 25
const lookAgainMs = (looks: number) => looks * 20

/**
 * Moves a lead's clock to the next date before or at `target`, once nothing is due where it stands. `target` is a time on that
 * clock, or the kind of date to stop at.
 *
 * @param isFirst whether this is a request's first step, which earlier refusals by the endpoint do not stop.
 */
export function advanceClockActivity({ sql }: { sql: Sql }) {
  return async (leadId: number, target: number | ClockStop, isFirst: boolean): Promise<ClockStep> => {
    let clock = await readClock(sql, leadId)
    for (let looks = 1; looks <= LOOKS && clock !== undefined && isBusy(clock); looks += 1) {
      await sleep(lookAgainMs(looks))
      clock = await readClock(sql, leadId)
    }
    // erased meanwhile
    if (clock === undefined) return { from: null, offset: 0, next: null, stopped: null }
    const { now, offset, position } = clock
    if (isBusy(clock)) return { from: null, offset, next: target, stopped: null }
    const stays: ClockStep = { from: { now, offset, position }, offset, next: null, stopped: null }
    // going on would pause an endpoint that fails for so long, or give up what a working endpoint refuses
    if (!isFirst && isLastScheduled(clock.open?.failures ?? 0))
      return { ...stays, stopped: 'endpoint_would_pause' }
    const date = typeof target === 'string' ? dateOf(clock, target) : target
    if (date === undefined || now >= date) return stays
    if (date > furthestOf(clock)) return { ...stays, stopped: 'twenty_years_ahead' }
    const seconds = Math.ceil((Math.min(dueDates(clock)[0]?.at ?? date, date) - now) / SECOND_MS)
    await moveClock(sql, clock, seconds)
    return { ...stays, offset: offset + seconds * SECOND_MS, next: date }
  }
}
