import type { MilestoneName } from '../leads/milestones.ts'
import { duePeriod, scoreDate } from '../leads/score-dates.ts'
import { DAY_MS } from '../values.ts'

/** The furthest that a sandbox moves a lead's clock, all of its moves together. */
export const MOST_YEARS = 20
/** The furthest that one request moves it. */
export const MOST_DAYS = 730
/** How many requests of a partner may move clocks at a time. */
export const MOST_ADVANCES = 10

/** What a sandbox's clock may be advanced to. */
export const clockStops = ['next_score_update', 'next_retry', 'end'] as const
export type ClockStop = (typeof clockStops)[number]

/** How far to advance a clock: a number of days, or until something is due. */
export type ClockTarget = { days: number } | { to: ClockStop }

/** Why a clock stops before its target. */
export const earlyStops = ['endpoint_would_pause', 'twenty_years_ahead'] as const
type EarlyStop = (typeof earlyStops)[number]

/** Where a lead stands on its own clock. Dates in milliseconds of the lead's time. */
export interface LeadClock {
  leadId: number
  status: MilestoneName
  now: number
  /** How far it runs ahead of ours, in milliseconds. */
  offset: number
  /** `null` while it is open. */
  closedAt: number | null
  /** `escrow_funded`; `null` before it. */
  anchor: number | null
  /** The next score update's number, 1 for the first. */
  period: number
  /** 30 days after mortgage_ready; `null` before it. */
  endsAt: number | null
  /** Its first open webhook, whose next attempt is `null` during one; `null` if none is open, or it is held. */
  open: { failures: number; nextAttemptAt: number | null } | null
  /** Of the latest event. */
  position: number
}

interface Due {
  what: 'score_update' | 'retry' | 'end'
  at: number
}

/** All that falls due on a lead's clock, in order of date. Of overdue score updates, only the latest comes. */
export function dueDates({ now, closedAt, anchor, period, endsAt, open }: LeadClock): Due[] {
  const dates: Due[] = []
  const isOpen = closedAt === null
  const retryAt = open?.nextAttemptAt ?? null
  if (open !== null && open.failures > 0 && retryAt !== null) dates.push({ what: 'retry', at: retryAt })
  if (isOpen && endsAt !== null) dates.push({ what: 'end', at: endsAt })
  if (isOpen && endsAt === null && anchor !== null)
    dates.push({ what: 'score_update', at: scoreDate(anchor, duePeriod(anchor, period, now)) })
  return dates.toSorted((one, other) => one.at - other.at)
}

/** Whether something is due that has not happened yet, or is happening. */
export function isBusy(clock: LeadClock): boolean {
  const { open, now } = clock
  if (open !== null && (open.nextAttemptAt ?? now) <= now) return true
  return dueDates(clock).some(({ at }) => at <= now)
}

const dueOfStop = { next_score_update: 'score_update', next_retry: 'retry', end: 'end' } as const

/** In milliseconds of the lead's time; `undefined` if nothing of the kind is due. */
export const dateOf = (clock: LeadClock, stop: ClockStop): number | undefined =>
  dueDates(clock).find(({ what }) => what === dueOfStop[stop])?.at

/** The furthest moment of its time that a lead's clock can be moved to, in milliseconds. */
export const furthestOf = ({ now, offset }: LeadClock): number => now - offset + MOST_YEARS * 365.25 * DAY_MS

/** A moment at which nothing was due or under way: before each move of a clock, and where it finally stopped. */
export type ClockStand = Pick<LeadClock, 'now' | 'offset' | 'position'>

/** The result of advancing a clock. */
export interface Advance {
  /** None if the lead was erased meanwhile. */
  stands: ClockStand[]
  stopped: EarlyStop | null
}

/** The result of moving a clock to the next date. */
export interface ClockStep {
  /** `null` if it was not moved, because something is due that does not happen, or the lead was erased. */
  from: ClockStand | null
  /** How far the clock is ahead now, in milliseconds. */
  offset: number
  /** Where to move it on to, in milliseconds of the lead's time; `null` once it is there, or has stopped. */
  next: number | ClockStop | null
  stopped: EarlyStop | null
}
