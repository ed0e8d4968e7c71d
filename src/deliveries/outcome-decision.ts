import { type EndpointPauser, type EndpointTransition, PAUSE_AFTER_MS } from '../endpoints/endpoint-state.ts'
import type { EndpointNotice } from '../endpoints/notices.ts'
import type { AttemptOutcome } from '../webhooks/send.ts'
import { type AttemptTrigger, type DeliveryState, FAILING_AFTER } from './delivery-states.ts'
import { isLastScheduled, nextAttemptAt } from './retry-schedule.ts'

/** Why an attempt failed, in words: what the endpoint answered, or why there was no answer. */
export function failureReason(status: number | null, errorCode: string | null): string {
  return status === null ? (errorCode ?? 'unknown') : `the endpoint answered ${status}`
}

export type FailedRequest = Pick<AttemptOutcome, 'status' | 'errorCode' | 'retryAfter'>

/** The delivery as it was before the failure, in the endpoint's round. */
export interface FailedAttemptFacts {
  trigger: AttemptTrigger
  /** Without the lease, another attempt decides about the delivery. */
  holdsLease: boolean
  state: DeliveryState
  failures: number
  nextAttemptAt: Date
  /** When its previous scheduled attempt ended; `null` if this is the first. */
  previousAt: Date | null
}

export interface CalledEndpoint {
  pausedBy: EndpointPauser | null
  /** The first failure after the last success; `null` while it works. */
  failingSince: Date | null
  /** Whether the URL is still the one that was called, and nobody paused or resumed the endpoint since. */
  isCurrent: boolean
}

export interface FailureDecision {
  end: 'failed' | 'given_up' | 'held' | 'superseded'
  /** `null`: only its lease ends, if the attempt holds it. */
  delivery: { failures: number; nextAttemptAt: Date; isGivenUp: boolean } | null
  /** `null` if nothing changes: attempts that all wrote this row would wait for each other. */
  endpoint: {
    failingSince: Date
    /** The service pauses it. */
    transition?: EndpointTransition & ('gone' | 'failing')
  } | null
  /** For the partner and operators. */
  notices: { kind: EndpointNotice['kind']; reason: string }[]
}

/**
 * Decides what follows a failed attempt. A success needs no decision: it is one statement.
 *
 * | The first that is so                                          | Delivery                               | Endpoint |
 * | ------------------------------------------------------------- | -------------------------------------- | -------- |
 * | the lease is gone                                             | –                                      | –        |
 * | a `resend` of an open delivery                                | keeps its place                        | –        |
 * | a `resend` of a settled one, a `replay` or a `probe`          | –                                      | –        |
 * | the endpoint changed since (URL, pause, resume)               | failure, by schedule                   | –        |
 * | 410, or at least the third failure after 72 h without success | failure                                | paused   |
 * | the last, and the endpoint took others since the one before   | given up                               | failing  |
 * | otherwise                                                     | failure, by schedule and `Retry-After` | failing  |
 */
export function decideFailure(
  attempt: FailedAttemptFacts,
  { pausedBy, failingSince, isCurrent }: CalledEndpoint,
  { status, errorCode, retryAfter }: FailedRequest,
  { now, random }: { now: Date; random: () => number },
): FailureDecision {
  const nothing = { delivery: null, endpoint: null, notices: [] }
  const { trigger, state, previousAt } = attempt
  if (!attempt.holdsLease) return { ...nothing, end: 'superseded' }
  if (trigger !== 'scheduled') {
    const place = { failures: attempt.failures, nextAttemptAt: attempt.nextAttemptAt, isGivenUp: false }
    const isOpen = trigger === 'resend' && state === 'pending'
    return { ...nothing, end: 'failed', delivery: isOpen ? place : null }
  }
  const failures = attempt.failures + 1
  // with fewer failures, most of the 72 h may have passed without an attempt: what failed before was erased or given up
  const isFailing = failures >= FAILING_AFTER
  const failingMs = failingSince === null ? 0 : now.getTime() - failingSince.getTime()
  const isPaused = isCurrent && (status === 410 || (isFailing && failingMs >= PAUSE_AFTER_MS))
  // the endpoint's last success: now if it was working until this attempt, else just before it began to fail
  const tookOthers = previousAt !== null && (failingSince ?? now) > previousAt
  const isGivenUp = isCurrent && !isPaused && tookOthers && isLastScheduled(failures)
  const delivery = {
    failures,
    nextAttemptAt: nextAttemptAt(failures, isCurrent ? retryAfter : null, { now, random }),
    isGivenUp,
  }
  if (!isCurrent) return { ...nothing, end: pausedBy === null ? 'failed' : 'held', delivery }

  const transition = status === 410 ? 'gone' : 'failing'
  const reason = failureReason(status, errorCode)
  const notices: FailureDecision['notices'] = []
  if (failures === FAILING_AFTER) notices.push({ kind: 'failing', reason })
  if (isGivenUp) notices.push({ kind: 'given_up', reason })
  if (isPaused) notices.push({ kind: 'paused', reason: transition })
  return {
    end: isPaused ? 'held' : isGivenUp ? 'given_up' : 'failed',
    delivery,
    endpoint:
      failingSince === null || isPaused
        ? { failingSince: failingSince ?? now, ...(isPaused && { transition }) }
        : null,
    notices,
  }
}
