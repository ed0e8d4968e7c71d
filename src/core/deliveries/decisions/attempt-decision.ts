import {
  type AttemptTrigger,
  type DeliveryState,
  ENDPOINT_CAP,
  INTERRUPTIONS_PER_FAILURE,
  LEASE_MS,
  PACE_MS,
  REQUEST_LIMIT_MS,
} from './delivery.ts'
import type { EndpointPauser } from '../../endpoints/decisions/endpoint.ts'
import { attemptDelayMs, BREAK_MS, withJitter } from './retry-schedule.ts'

const SECOND_MS = 1000
const LONGEST_STAND_BACK_MS = 5 * 60 * SECOND_MS

/** What the next attempt of a delivery depends on. */
export interface DeliveryFacts {
  state: DeliveryState
  failures: number
  nextAttemptAt: Date
  leasedUntil: Date | null
  /** When an attempt of an open delivery was asked for that is still to be made, before it is due. */
  resendRequestedAt: Date | null
  /** How many of the latest attempts in a row were interrupted: their processes crashed. */
  interruptions: number
}

/** Its endpoint. */
export interface EndpointFacts {
  url: string | null
  pausedBy: EndpointPauser | null
  blockedUntil: Date | null
  /** Set if one request a second is the most that goes there: when the next may. */
  pacedUntil: Date | null
  /** Leases that have not expired. */
  inFlight: number
  /** When the oldest of them ends; `null` when there is none. */
  oldestLeaseEndsAt: Date | null
  /** Deliveries that should be sent now; 0 unless the endpoint is busy. */
  due: number
}

/**
 * What comes next for a delivery.
 *
 * | The first that is so                                                  | Then                               |
 * | --------------------------------------------------------------------- | ---------------------------------- |
 * | it is settled, and the attempt is `scheduled` or a `probe`             | `settled`                          |
 * | another attempt holds its lease                                        | wait 1 s, `leased`                 |
 * | a `resend` of what is neither delivered nor given up                   | `forget`                           |
 * | the endpoint has no URL                                                | `held`                             |
 * | the endpoint is paused, but for a `probe` of what the service paused   | `held`                             |
 * | it is `scheduled` and not due, and nobody asks for it                  | wait until then, `not_due`         |
 * | the circuit breaker is open, or ten requests are in flight             | wait, `busy`                       |
 * | it is paced, and its latest request was less than a second ago         | wait, `busy`                       |
 * | it is `scheduled`, and the third attempt in a row was interrupted      | `fail`: one more failure, and wait  |
 * | a `resend`, and the third attempt in a row was interrupted             | `forget`                           |
 * | otherwise                                                              | `send`                             |
 *
 * An open one that is asked for before it is due is a `resend`: it keeps its place in the schedule, and does not wait for
 * the circuit breaker, since the endpoint may just have been repaired.
 *
 * Before `send` and `fail` an attempt without an end is closed as interrupted.
 */
export type AttemptDecision =
  | { kind: 'settled'; state: DeliveryState }
  | { kind: 'forget'; state: DeliveryState }
  | { kind: 'held' }
  | { kind: 'wait'; why: 'leased' | 'not_due' | 'busy'; forMs: number }
  | { kind: 'fail'; failures: number; forMs: number }
  | { kind: 'send'; as: AttemptTrigger }

export function decideAttempt(
  delivery: DeliveryFacts,
  endpoint: EndpointFacts,
  trigger: AttemptTrigger,
  { now, random }: { now: Date; random: () => number },
): AttemptDecision {
  const decided = decideWithoutEndpoint(delivery, trigger, now)
  if (decided !== undefined) return decided
  const isScheduled = trigger === 'scheduled'
  if (endpoint.url === null || isHeld(endpoint, trigger)) return { kind: 'held' }
  const forMs = delivery.nextAttemptAt.getTime() - now.getTime()
  const isAsked = isScheduled && forMs > 0 && delivery.resendRequestedAt !== null
  if (isScheduled && forMs > 0 && !isAsked) return { kind: 'wait', why: 'not_due', forMs }
  if (isPaced(endpoint, now)) return { kind: 'wait', why: 'busy', forMs: pacedMs(endpoint, random) }
  const called = isAsked ? { ...endpoint, blockedUntil: null } : endpoint
  if (isBusy(called, now)) return { kind: 'wait', why: 'busy', forMs: standBackMs(endpoint, now, random) }
  if (countsAsFailure(delivery)) {
    if (trigger === 'resend') return { kind: 'forget', state: delivery.state }
    const failures = delivery.failures + 1
    if (isScheduled) return { kind: 'fail', failures, forMs: attemptDelayMs(failures, random) }
  }
  return { kind: 'send', as: isAsked ? 'resend' : trigger }
}

/** The first three rows, which need no lock on the endpoint. */
export function decideWithoutEndpoint(
  { state, leasedUntil }: Pick<DeliveryFacts, 'state' | 'leasedUntil'>,
  trigger: AttemptTrigger,
  now: Date,
): Extract<AttemptDecision, { kind: 'settled' | 'wait' | 'forget' }> | undefined {
  const isForOpen = trigger === 'scheduled' || trigger === 'probe'
  if (state !== 'pending' && isForOpen) return { kind: 'settled', state }
  if (isAhead(leasedUntil, now)) return { kind: 'wait', why: 'leased', forMs: SECOND_MS }
  if (trigger !== 'resend') return undefined
  return state === 'delivered' || state === 'given_up' ? undefined : { kind: 'forget', state }
}

function isHeld({ pausedBy }: EndpointFacts, trigger: AttemptTrigger): boolean {
  return pausedBy !== null && !(pausedBy === 'service' && trigger === 'probe')
}

/** The circuit breaker is open, or as many requests are in flight as the cap allows. */
function isBusy(endpoint: EndpointFacts, now: Date): boolean {
  return isBroken(endpoint, now) || endpoint.inFlight >= ENDPOINT_CAP
}

const isBroken = ({ blockedUntil }: EndpointFacts, now: Date) => isSoon(blockedUntil, now, BREAK_MS)

const isPaced = ({ pacedUntil }: EndpointFacts, now: Date) => isSoon(pacedUntil, now, PACE_MS)

/**
 * Whether a date is ahead, and not further than twice the longest wait: then PostgreSQL's clock was ahead when it was
 * written, and the endpoint would get nothing for as long as that.
 */
function isSoon(date: Date | null, now: Date, longestMs: number): boolean {
  return isAhead(date, now) && (date?.getTime() ?? 0) - now.getTime() <= 2 * longestMs
}

/**
 * How long until a delivery may try again, so that ten do in the time that a request takes now. The oldest request in
 * flight shows that time: milliseconds, or 15 s if the endpoint hangs.
 */
function standBackMs(endpoint: EndpointFacts, now: Date, random: () => number): number {
  const { oldestLeaseEndsAt, due } = endpoint
  const isUnknown = isBroken(endpoint, now) || oldestLeaseEndsAt === null
  const tookMs = isUnknown ? REQUEST_LIMIT_MS : now.getTime() - (oldestLeaseEndsAt.getTime() - LEASE_MS)
  const turnMs = (due / ENDPOINT_CAP) * Math.min(tookMs, REQUEST_LIMIT_MS)
  const waitMs = Math.min(Math.max(turnMs, SECOND_MS), LONGEST_STAND_BACK_MS)
  return withJitter(waitMs, random)
}

/** How long until a delivery to a paced endpoint may try again, so that one does a second. */
function pacedMs({ due }: EndpointFacts, random: () => number): number {
  return withJitter(Math.min(Math.max(due, 1) * PACE_MS, LONGEST_STAND_BACK_MS), random)
}

/** Limits retries of a request that crashes its worker. A single deployment doesn't count. */
function countsAsFailure({ interruptions }: DeliveryFacts): boolean {
  return interruptions > 0 && interruptions % INTERRUPTIONS_PER_FAILURE === 0
}

function isAhead(date: Date | null, now: Date): boolean {
  return date !== null && date > now
}
