import type { EndpointPauser } from '../endpoints/endpoint-state.ts'
import type { Asked, AttemptTrigger, DeliveryState } from './delivery-states.ts'
import { attemptDelayMs } from './retry-schedule.ts'

/** Attempts in a row that a crash or a deployment interrupted, and that count as one failure. */
const INTERRUPTIONS_PER_FAILURE = 3

/** What the next attempt of a delivery depends on. */
export interface DeliveryFacts {
  state: DeliveryState
  failures: number
  nextAttemptAt: Date
  /** Whether another attempt holds its lease. */
  isLeased: boolean
  /** A requested attempt, outside the schedule. */
  asked: Asked | null
  /** How many of the latest attempts in a row were interrupted. */
  interruptions: number
  /** Whether its lead is erased. */
  isErased: boolean
}

export interface EndpointFacts {
  url: string | null
  pausedBy: EndpointPauser | null
}

export type AttemptDecision =
  | { kind: 'settled'; state: DeliveryState }
  | { kind: 'held' }
  | { kind: 'wait'; why: 'leased' | 'not_due'; forMs: number }
  | { kind: 'fail'; failures: number; forMs: number }
  | { kind: 'send'; as: AttemptTrigger }

/**
 * Decides what comes next for a delivery.
 *
 * | The first that is so                                                  | Then                             |
 * | --------------------------------------------------------------------- | -------------------------------- |
 * | another attempt holds its lease                                       | wait 1 s, `leased`               |
 * | it is settled, and the attempt is `scheduled` or a `probe`            | `settled`                        |
 * | it is canceled, or it is settled and its lead is erased               | `settled`                        |
 * | the endpoint has no URL                                               | `held`                           |
 * | the endpoint is paused, but for a `probe` of what the service paused  | `held`                           |
 * | it is `scheduled` and not due, and nobody asked for it                | wait until then, `not_due`       |
 * | it is `scheduled`, and the third attempt in a row was interrupted     | `fail`: one more failure, and wait |
 * | no `probe`, and the third attempt in a row was interrupted            | `settled`                        |
 * | otherwise                                                             | `send`                           |
 *
 * An open delivery that is requested before it is due is sent as a `resend`: it keeps its place in the schedule. Unless the
 * decision is `wait` or `held`, an unfinished attempt is closed as interrupted.
 */
export function decideAttempt(
  delivery: DeliveryFacts,
  { url, pausedBy }: EndpointFacts,
  trigger: AttemptTrigger,
  { now, random }: { now: Date; random: () => number },
): AttemptDecision {
  const { state } = delivery
  const isScheduled = trigger === 'scheduled'
  const isOpen = state === 'pending'
  if (delivery.isLeased) return { kind: 'wait', why: 'leased', forMs: 1000 }
  if (!isOpen && (isScheduled || trigger === 'probe')) return { kind: 'settled', state }
  if (state === 'canceled' || (!isOpen && delivery.isErased)) return { kind: 'settled', state: 'canceled' }
  const isProbed = trigger === 'probe' && pausedBy === 'service'
  if (url === null || (pausedBy !== null && !isProbed)) return { kind: 'held' }
  const forMs = delivery.nextAttemptAt.getTime() - now.getTime()
  const isEarly = isScheduled && forMs > 0
  if (isEarly && delivery.asked === null) return { kind: 'wait', why: 'not_due', forMs }
  if (delivery.interruptions >= INTERRUPTIONS_PER_FAILURE) {
    // the request itself may crash its worker
    const failures = delivery.failures + 1
    if (isScheduled) return { kind: 'fail', failures, forMs: attemptDelayMs(failures, random) }
    if (trigger !== 'probe') return { kind: 'settled', state }
  }
  return { kind: 'send', as: isEarly ? 'resend' : trigger }
}
