import type { MilestoneName } from '../leads/milestones.ts'
import { duePeriod, scoreDate } from '../leads/score-dates.ts'
import { DAY_MS } from '../values.ts'

/** The furthest that a sandbox moves a lead's clock, all of its moves together. */
export const MOST_YEARS = 20
export const MOST_AHEAD_MS = MOST_YEARS * 365.25 * DAY_MS
/** The furthest that one request moves it. */
export const MOST_DAYS = 730
/** How many clocks of a partner's leads may move at a time. */
export const MOST_ADVANCES = 10

/** What a sandbox's clock may be advanced to. */
export const clockStops = ['next_score_update', 'next_retry', 'end'] as const

/** How far to advance a clock: a number of days, or until something is due. */
export type ClockTarget = { days: number } | { to: (typeof clockStops)[number] }

/** Where a lead stands on its own clock. Dates in milliseconds of the lead's time. */
export interface LeadClock {
  leadId: number
  status: MilestoneName
  now: number
  /** How far it runs ahead of ours, in seconds. */
  offsetSeconds: number
  /** Also if it is erased. */
  isClosed: boolean
  /** `escrow_funded`; `null` before it. */
  anchor: number | null
  /** The last of the timer's score updates that is recorded; 0 before the first. */
  lastPeriod: number
  /** 30 days after mortgage_ready; `null` before it. */
  endsAt: number | null
  /** Its first open webhook; `null` if none is open, or its endpoint is paused. */
  open: { failures: number; nextAttemptAt: number; isLeased: boolean } | null
}

export interface Due {
  what: 'score_update' | 'retry' | 'end'
  at: number
}

/** All that falls due on a lead's clock, the first of it first. Of score updates that are overdue, only the latest comes. */
export function dueDates({ now, isClosed, anchor, lastPeriod, endsAt, open }: LeadClock): Due[] {
  const dates: Due[] = []
  if (open !== null && open.failures > 0) dates.push({ what: 'retry', at: open.nextAttemptAt })
  if (!isClosed && endsAt !== null) dates.push({ what: 'end', at: endsAt })
  if (!isClosed && endsAt === null && anchor !== null)
    dates.push({ what: 'score_update', at: scoreDate(anchor, duePeriod(anchor, lastPeriod + 1, now)) })
  return dates.toSorted((one, other) => one.at - other.at)
}

/** Whether something is due that has not happened yet, or is happening. */
export function isBusy(clock: LeadClock): boolean {
  const { open, now } = clock
  if (open !== null && (open.isLeased || open.nextAttemptAt <= now)) return true
  return dueDates(clock).some(({ at }) => at <= now)
}

const dueOfStop = { next_score_update: 'score_update', next_retry: 'retry', end: 'end' } as const

/** In milliseconds of the lead's time; `undefined` if nothing of the kind is due. */
export function targetOf(clock: LeadClock, target: ClockTarget): number | undefined {
  if ('days' in target) return clock.now + target.days * DAY_MS
  return dueDates(clock).find(({ what }) => what === dueOfStop[target.to])?.at
}

/** The furthest moment of its time that a lead's clock can be moved to, in milliseconds. */
export const furthestOf = ({ now, offsetSeconds }: LeadClock): number =>
  now - offsetSeconds * 1000 + MOST_AHEAD_MS

/** The end of a lead's history when its clock began to move. */
export interface ClockStart {
  /** The position of its latest event. */
  position: number
  /** PostgreSQL's time, to the microsecond. */
  at: string
}

/** What happened while a lead's clock moved; `at` in milliseconds of the lead's time. */
export type Happened =
  | { what: 'event'; at: number; eventId: string; eventName: MilestoneName; sequence: number | null }
  | {
      what: 'webhook'
      at: number
      eventId: string
      eventName: MilestoneName
      sequence: number
      /** Which request of its delivery it was, from 1. */
      attempt: number
      status: number | null
      errorCode: string | null
    }
  | { what: 'end'; at: number }

/** How a lead's clock was moved. */
export interface Advance {
  happened: Happened[]
  /** Why it stopped before its target. */
  stopped?: 'endpoint_would_pause'
}

/** What a lead's workflow is asked for: to move the clock to a moment of the lead's time, in milliseconds. */
export interface AdvanceRequest {
  target: number | 'next_retry'
  /** The end of the lead's history before; `null` if nobody wants to know what happens. */
  since: ClockStart | null
}

/** From one date to the next. */
export interface ClockStep extends AdvanceRequest {
  /** Of the lead's first open webhook, where the clock stood before; `null` at first. */
  failures: number | null
  /** Whether the lead was closed by then. */
  isClosed: boolean
}

/** What happened until a clock was moved on. */
export interface ClockPassed extends Advance {
  /** How far the clock is ahead now, in milliseconds. */
  offset: number
  /** `null` once it is there, or has stopped. */
  next: ClockStep | null
}

/** What moves a lead's clock, for operators. */
export function describeAdvance(leadId: number, target: AdvanceRequest['target']): string {
  const to =
    target === 'next_retry'
      ? 'the next retry'
      : `${new Date(target).toISOString().slice(0, 16).replace('T', ' ')} UTC`
  return `move the clock of lead ${leadId} to ${to}`
}
