import type { AttemptOutcome } from './attempt-outcome.ts'
import { type AttemptTrigger, FAILING_AFTER } from './delivery-states.ts'
import type {
  EndpointPauser,
  EndpointIncident,
  EndpointTransition,
  NoticeKind,
} from '../endpoints/endpoint-state.ts'
import { failureReason } from '../leads/referral-state.ts'
import { isLastScheduled, isLastButOneMade, nextAttemptAt, PAUSE_AFTER_MS } from './retry-schedule.ts'

/** How a request failed. */
export type FailedRequest = Pick<AttemptOutcome, 'status' | 'errorCode' | 'retryAfter'>

export interface FailedAttemptFacts {
  trigger: AttemptTrigger
  /** Without the lease, another attempt decides about the delivery. */
  holdsLease: boolean
  /** The delivery's failed attempts before this one, in the endpoint's round. */
  failures: number
  /** When the round's last attempt but one had failed; `null` before it. */
  lastButOneAt: Date | null
}

export interface CalledEndpoint {
  pausedBy: EndpointPauser | null
  /** The first failure after the last success; `null` while it works. */
  failingSince: Date | null
  /** Its open incident, if there is one. */
  incident: EndpointIncident | null
  /** Whether the URL is still the one that was called, and nobody paused or resumed the endpoint since. */
  isCurrent: boolean
}

export interface DeliveryChange {
  failures: number
  nextAttemptAt: Date
  isGivenUp: boolean
  lastButOneAt: Date | null
}

export interface EndpointChange {
  failingSince: Date
  incident?: EndpointIncident
  /** The service pauses it. */
  transition?: EndpointTransition & ('gone' | 'failing')
}

/** What a failed attempt means for its delivery. */
export type FailureEnd = 'failed' | 'given_up' | 'held' | 'superseded'

export interface FailureDecision {
  end: FailureEnd
  /** `null`: nothing but the lease, if the attempt holds it. */
  delivery: DeliveryChange | null
  /** `null` if nothing changes: attempts that all wrote this row would wait for each other. */
  endpoint: EndpointChange | null
  /** For partner and operators. */
  notices: { kind: NoticeKind; reason: string }[]
}

/**
 * What follows a failed attempt.
 *
 * | The first that is so                                     | Delivery               | Endpoint              |
 * | -------------------------------------------------------- | ---------------------- | --------------------- |
 * | the lease is gone                                        | –                      | –                     |
 * | a `resend`, `replay` or `probe`                           | –                      | –                     |
 * | the endpoint changed since (URL, pause, resume)           | failure, by schedule   | –                     |
 * | 410, or a webhook's `FAILING_AFTER`th failure or later one, `PAUSE_AFTER_HOURS` without a success | failure | paused |
 * | the last, and it accepted others since the last but one  | given up | failing              |
 * | otherwise                                                 | failure, next attempt  | failing, perhaps rest |
 *
 * The failure in a row that `FAILING_AFTER` counts is the partner's first notice. A 2xx needs no decision: it is one statement.
 */
export function decideFailure(
  attempt: FailedAttemptFacts,
  endpoint: CalledEndpoint,
  request: FailedRequest,
  { now, random }: { now: Date; random: () => number },
): FailureDecision {
  const nothing = { delivery: null, endpoint: null, notices: [] }
  const end = endWithoutEndpoint(attempt)
  if (end !== undefined) return { end, ...nothing }
  const failures = attempt.failures + 1
  const retryAfter = endpoint.isCurrent ? request.retryAfter : null
  const verdict = judge(attempt, endpoint, request, now)
  const delivery = {
    failures,
    nextAttemptAt: nextAttemptAt({ failures, retryAfter, now, random }),
    isGivenUp: verdict === 'give_up',
    // not when it began: an endpoint that fails since this attempt has taken nothing after it
    lastButOneAt: isLastButOneMade(failures) ? (attempt.lastButOneAt ?? now) : null,
  }
  if (!endpoint.isCurrent) {
    return { ...nothing, end: endpoint.pausedBy === null ? 'failed' : 'held', delivery }
  }
  return {
    end: { give_up: 'given_up' as const, pause: 'held' as const, retry: 'failed' as const }[verdict],
    delivery,
    endpoint: endpointChange({ failures, verdict }, endpoint, request, now),
    notices: noticesOf(failures, verdict, request),
  }
}

/** The first two rows, which need no lock on the endpoint. */
export function endWithoutEndpoint({
  holdsLease,
  trigger,
}: Pick<FailedAttemptFacts, 'holdsLease' | 'trigger'>): 'superseded' | 'failed' | undefined {
  if (!holdsLease) return 'superseded'
  return trigger === 'scheduled' ? undefined : 'failed'
}

type Verdict = 'retry' | 'give_up' | 'pause'

function judge(
  { failures, lastButOneAt }: FailedAttemptFacts,
  { failingSince, isCurrent }: CalledEndpoint,
  { status }: FailedRequest,
  now: Date,
): Verdict {
  if (!isCurrent) return 'retry'
  if (status === 410) return 'pause'
  // what failed before may have been erased, given up or left out since, so that nothing was tried any more
  const isFailing = failures + 1 >= FAILING_AFTER
  if (isFailing && failingSince !== null && now.getTime() - failingSince.getTime() >= PAUSE_AFTER_MS)
    return 'pause'
  // the endpoint's last success: now if it was working until this attempt, else just before it began to fail
  const lastSuccessAt = failingSince ?? now
  const tookOthers = lastButOneAt !== null && lastSuccessAt > lastButOneAt
  return isLastScheduled(failures + 1) && tookOthers ? 'give_up' : 'retry'
}

function endpointChange(
  { failures, verdict }: { failures: number; verdict: Verdict },
  { failingSince, incident }: CalledEndpoint,
  request: FailedRequest,
  now: Date,
): EndpointChange | null {
  const beginsIncident = failures === FAILING_AFTER && incident === null
  const isPaused = verdict === 'pause'
  if (failingSince !== null && !beginsIncident && !isPaused) return null
  return {
    failingSince: failingSince ?? now,
    ...(beginsIncident && { incident: 'failing' }),
    ...(isPaused && { incident: 'paused', transition: pauseOf(request) }),
  }
}

const pauseOf = ({ status }: FailedRequest) => (status === 410 ? ('gone' as const) : ('failing' as const))

function noticesOf(failures: number, verdict: Verdict, request: FailedRequest): FailureDecision['notices'] {
  const why = failureReason(request.status, request.errorCode)
  return [
    ...(failures === FAILING_AFTER ? [{ kind: 'failing' as const, reason: why }] : []),
    ...(verdict === 'give_up' ? [{ kind: 'given_up' as const, reason: why }] : []),
    ...(verdict === 'pause' ? [{ kind: 'paused' as const, reason: pauseOf(request) }] : []),
  ]
}
