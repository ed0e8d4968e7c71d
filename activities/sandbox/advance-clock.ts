import { activityInfo, ApplicationFailure, heartbeat, sleep } from '@temporalio/activity'
import { failingForMs } from '../../src/capabilities/sandbox/statements/failing-for.ts'
import { clockStart, happenedSince, moveClock } from '../../src/capabilities/sandbox/statements/move-clock.ts'
import { nextDue, readLeadClock } from '../../src/capabilities/sandbox/statements/next-due.ts'
import { endAdvance, stopPassing } from '../../src/capabilities/sandbox/statements/sandbox-runs.ts'
import type { Sql } from '../../src/core/database/orm.ts'
import {
  type Advance,
  type ClockStart,
  furthestOf,
  type Happened,
  isBusy,
  type LeadClock,
  targetOf,
} from '../../src/capabilities/sandbox/decisions/lead-clock.ts'
import { PAUSE_AFTER_MS } from '../../src/core/deliveries/decisions/retry-schedule.ts'
import { again } from '../again.ts'

/** The longer it takes, the less often the record is read. */
const POLL_MS = { first: 10, longest: 250 }
/**
 * How long an advance keeps its place while nothing happens: the rest of the waiting is Temporal's. Before it leaves, it tells
 * the lead's workflow to look, which also starts one that does not run.
 */
const PLACE_MS = 1000
const SECOND_MS = 1000
const LONGEST_WAIT_S = 15

interface Dependencies {
  sql: Sql
  /** Both start the lead's workflow if it does not run. */
  wakeLead: (leadId: number) => Promise<unknown>
  tellClock: (leadId: number, offsetMs: number) => Promise<unknown>
}

/** Heartbeat details: the next attempt adds to them. Those of a crash may be missing, and are read from the record. */
interface Progress {
  since: ClockStart
  happened: Happened[]
  /** Of the lead's first open webhook, when all that was due had happened; absent before that. */
  failures?: number
}

/** What moves a lead's clock. Both wait for activities of the lead, and give their place back after a second. */
export function clockActivities(dependencies: Dependencies) {
  const { sql, tellClock } = dependencies

  /** Waits until all that is due has happened, and adds it to `progress`. */
  async function arrive(leadId: number, progress: Progress, placeMs: number): Promise<LeadClock> {
    heartbeat(progress)
    const clock = await waitUntilNothingIsDue(dependencies, leadId, placeMs, () => heartbeat(progress))
    const { happened, since } = await happenedSince(sql, leadId, progress.since, clock.offsetSeconds)
    progress.happened.push(...happened)
    progress.since = since
    const hasEnded = progress.happened.some(({ what }) => what === 'end')
    if (clock.isClosed && !hasEnded) progress.happened.push({ what: 'end', at: clock.now })
    return clock
  }

  /** Whether production would pause the endpoint now: a retry failed, and nothing has succeeded for three days. */
  async function wouldPause(leadId: number, { open }: LeadClock, progress: Progress): Promise<boolean> {
    const { failures: before } = progress
    progress.failures = open?.failures ?? 0
    if (before === undefined || progress.failures <= before) return false
    return (await failingForMs(sql, leadId)) >= PAUSE_AFTER_MS
  }

  async function move(leadId: number, target: number, progress: Progress): Promise<Advance> {
    const { happened } = progress
    for (let placeMs = firstPlaceMs(); ; placeMs = PLACE_MS) {
      const clock = await arrive(leadId, progress, placeMs)
      if (await wouldPause(leadId, clock, progress)) return { happened, stopped: 'endpoint_would_pause' }
      if (clock.now >= target) {
        if (!clock.isClosed) await tellClock(leadId, clock.offsetSeconds * SECOND_MS)
        return { happened }
      }
      await moveClock(sql, leadId, Math.min(nextDue(clock)?.at ?? target, target))
    }
  }

  return {
    /**
     * Moves a lead's clock to a moment of its time, in milliseconds. It stops at each date on the way, until nothing
     * is due there. The record has the progress, so a crash repeats nothing.
     *
     * @param since the end of the lead's history before.
     */
    advanceClock: async (leadId: number, target: number, since: ClockStart): Promise<Advance> => {
      if (activityInfo().attempt === 1) await stopPassing(sql, leadId)
      const progress = (activityInfo().heartbeatDetails ?? { since, happened: [] }) as Progress
      const advanced = await move(leadId, target, progress)
      await endAdvance(sql, leadId)
      return advanced
    },

    /**
     * Waits until nothing is due: then the date of a retry is known, and the end of the lead's history.
     *
     * @returns `null` if no retry is due ever.
     */
    findRetry: async (leadId: number): Promise<{ target: number; since: ClockStart } | null> => {
      const clock = await waitUntilNothingIsDue(dependencies, leadId, firstPlaceMs(), () => heartbeat())
      const target = targetOf(clock, { to: 'next_retry' })
      if (target !== undefined)
        return { target: Math.min(target, furthestOf(clock)), since: await clockStart(sql, leadId) }
      await endAdvance(sql, leadId)
      return null
    },
  }
}

/** One that comes back only looks: as long as nothing happens, it takes no time in its place. */
const firstPlaceMs = () => (activityInfo().attempt === 1 ? PLACE_MS : 0)

/** Reads a lead's clock once nothing is due; throws "again" after `placeMs`. */
async function waitUntilNothingIsDue(
  { sql, wakeLead, tellClock }: Dependencies,
  leadId: number,
  placeMs: number,
  beat: () => void,
): Promise<LeadClock> {
  const began = performance.now()
  let told = false
  for (let waited = 0; ; waited = performance.now() - began) {
    const clock = await readLeadClock(sql, leadId)
    if (clock === undefined) throw ApplicationFailure.nonRetryable('there is no such lead', 'UnknownLead')
    if (!isBusy(clock)) return clock
    if (!told && (hasCome(clock) || waited >= placeMs)) {
      await (isRetryDue(clock) ? wakeLead(leadId) : tellClock(leadId, clock.offsetSeconds * SECOND_MS))
      told = true
    }
    beat()
    if (waited >= placeMs)
      throw again(
        'what is due has not happened yet',
        Math.min(activityInfo().attempt, LONGEST_WAIT_S) * SECOND_MS,
      )
    await sleep(Math.min(POLL_MS.first + waited / 10, POLL_MS.longest))
  }
}

/** A date has come that the lead's workflow does not know of yet. */
const hasCome = (clock: LeadClock) => isRetryDue(clock) || (nextDue(clock)?.at ?? Infinity) <= clock.now

const isRetryDue = ({ open, now }: LeadClock) =>
  open !== null && !open.isLeased && open.failures > 0 && open.nextAttemptAt <= now
