import { setTimeout as delay } from 'node:timers/promises'
import { ApplicationFailure } from '@temporalio/activity'
import { dueDates, isBusy, type LeadClock } from '../../src/capabilities/sandbox/decisions/lead-clock.ts'
import { readLeadClock } from '../../src/capabilities/sandbox/statements/next-due.ts'
import type { Sql } from '../../src/core/database/orm.ts'

/** The longer it takes, the less often the record is read. */
const POLL_MS = { first: 10, longest: 250 }
/** After how long a lead's workflow is told again to look. */
const TELL_MS = { first: 1000, longest: 15_000 }
const SECOND_MS = 1000

export interface WatchDependencies {
  sql: Sql
  /** Both start the lead's workflow if it does not run. */
  wakeLead: (leadId: number) => Promise<unknown>
  tellClock: (leadId: number, offsetMs: number) => Promise<unknown>
}

/** Watches a lead's record, until `signal` aborts: who waits here has to leave its place soon. */
export function leadWatch({ sql, wakeLead, tellClock }: WatchDependencies) {
  /** False if `signal` aborts first. */
  async function becomes(
    leadId: number,
    state: 'isClosed' | 'isErased',
    signal: AbortSignal,
  ): Promise<boolean> {
    for (const wait of waits()) {
      if ((await read(leadId))[state]) return true
      if (signal.aborted) return false
      await pause(wait, signal)
    }
    return false
  }

  /** Waits until nothing is due; `undefined` if `signal` aborts first. */
  async function settled(leadId: number, signal: AbortSignal): Promise<LeadClock | undefined> {
    let waited = 0
    let tellAt = 0
    for (const wait of waits()) {
      const clock = await read(leadId)
      if (!isBusy(clock)) return clock
      if (signal.aborted) return undefined
      if (waited >= tellAt && (hasCome(clock) || waited > TELL_MS.first)) {
        await (isRetryDue(clock) ? wakeLead(leadId) : tellClock(leadId, clock.offsetSeconds * SECOND_MS))
        tellAt = waited + Math.min(Math.max(waited, TELL_MS.first), TELL_MS.longest)
      }
      await pause(wait, signal)
      waited += wait
    }
    return undefined
  }

  async function read(leadId: number): Promise<LeadClock> {
    const clock = await readLeadClock(sql, leadId)
    if (clock === undefined) throw ApplicationFailure.nonRetryable('there is no such lead', 'UnknownLead')
    return clock
  }

  return { settled, becomes }
}

/** How long to wait before the record is read again, each time. */
function* waits(): Generator<number, void> {
  for (let waited = 0, wait = POLL_MS.first; ; waited += wait) {
    wait = Math.min(POLL_MS.first + waited / 10, POLL_MS.longest)
    yield wait
  }
}

/** Ends sooner if `signal` aborts. */
export const pause = (ms: number, signal: AbortSignal) =>
  delay(ms, undefined, { signal }).catch(() => undefined)

/** A date has come that the lead's workflow does not know of yet. */
const hasCome = (clock: LeadClock) =>
  !clock.open?.isLeased && dueDates(clock).some(({ at }) => at <= clock.now)

const isRetryDue = ({ open, now }: LeadClock) =>
  open !== null && !open.isLeased && open.failures > 0 && open.nextAttemptAt <= now
