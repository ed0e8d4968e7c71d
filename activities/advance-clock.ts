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
/** How often to look in a try whether what is due has happened: for six seconds, less and less often. */
const LOOKS = 25
const lookAgainMs = (looks: number) => looks * 20

/**
 * Moves a lead's clock to the next date on the way to `target`, a moment of its time or what is due next of a kind, once
 * nothing is due any more where it stands.
 *
 * @param isFirst of a request's steps: what the endpoint refused before does not stop it.
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
    // the schedule takes as long as an endpoint may fail, and would give up what a working endpoint refuses
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
