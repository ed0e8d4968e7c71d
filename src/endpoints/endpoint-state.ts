import { PAUSE_AFTER_HOURS } from '../deliveries/retry-schedule.ts'

/**
 * An endpoint is where a partner's webhooks go.
 *
 * | State      | Meaning                                             | Webhooks         | Changes to                      |
 * | ---------- | --------------------------------------------------- | ---------------- | ------------------------------- |
 * | `active`   | it is called; shown as `failing` while it only fails | sent             | `paused`                        |
 * | `paused`   | by staff, its partner or the service; or it has no URL | held           | `active`                        |
 *
 * An endpoint that a person paused stays paused until a person resumes it. The service probes one that it paused: first after
 * an hour, with exponential backoff up to a day. A resume, a new URL and an accepted probe begin another round: see `inRound`.
 */
export const endpointStates = ['active', 'paused'] as const
export type EndpointState = (typeof endpointStates)[number]

export const endpointPausers = ['staff', 'partner', 'service'] as const
export type EndpointPauser = (typeof endpointPausers)[number]

/** For how long the previous secret also signs after a rotation. */
export const OVERLAP_HOURS = { default: 24, max: 7 * 24 }

/** What operators were told of an endpoint and is not over. */
export const endpointIncidents = ['failing', 'paused'] as const
export type EndpointIncident = (typeof endpointIncidents)[number]

/** What partners and staff are told about an endpoint, by mail, log line and metric. */
export const noticeKinds = ['failing', 'given_up', 'paused', 'recovered'] as const
export type NoticeKind = (typeof noticeKinds)[number]
/** Those and what they are told by mail alone: who changes an endpoint is in the audit. */
export type MailKind = NoticeKind | 'url_changed' | 'secret_changed'

/** Reasons in words that continue after "because". */
const REASONS = {
  attempts_fail: 'every attempt since then has failed',
  recovered: 'it accepts webhooks',
  no_endpoint: 'no URL is registered yet',
  gone: 'it answered 410 Gone',
  failing: `it accepted no webhook for ${PAUSE_AFTER_HOURS} hours`,
  staff: 'our staff paused it',
  partner: 'it was paused with pause-endpoint',
  resumed: 'our staff resumed it',
  resumed_by_partner: 'it was resumed with resume-endpoint',
  endpoint_set: 'its URL was set',
  endpoint_set_from_now: 'its URL was set, and waiting webhooks were canceled',
  probe_succeeded: 'it accepted a probe',
}

export type EndpointReason = keyof typeof REASONS

export function describeReason(reason: string | null): string {
  if (reason === null) return 'it works'
  return Object.hasOwn(REASONS, reason) ? REASONS[reason as EndpointReason] : reason
}

interface Transition {
  readonly reason: EndpointReason
  /** `null`: it is active, and what it failed at before is over. */
  readonly pausedBy: EndpointPauser | null
}

/**
 * Transitions of an endpoint. Each increments its revision; an attempt that called an earlier revision says nothing
 * about this one.
 */
export const endpointTransitions = {
  set: { reason: 'endpoint_set', pausedBy: null },
  setFromNow: { reason: 'endpoint_set_from_now', pausedBy: null },
  pausedByPartner: { reason: 'partner', pausedBy: 'partner' },
  resumedByPartner: { reason: 'resumed_by_partner', pausedBy: null },
  pausedByStaff: { reason: 'staff', pausedBy: 'staff' },
  resumedByStaff: { reason: 'resumed', pausedBy: null },
  probeTaken: { reason: 'probe_succeeded', pausedBy: null },
  gone: { reason: 'gone', pausedBy: 'service' },
  failing: { reason: 'failing', pausedBy: 'service' },
} as const satisfies Record<string, Transition>

export type EndpointTransition = keyof typeof endpointTransitions

/** Whether webhooks are sent to it and every attempt fails. `failingSince` is the first failure after the last success. */
export function isFailing(state: EndpointState, failingSince: Date | null): failingSince is Date {
  return state === 'active' && failingSince !== null
}

/** How a partner's endpoint is, in the words of staff, the partner's API, mails and the Temporal Web UI. */
export const endpointHealths = ['active', 'failing', 'paused'] as const
export type EndpointHealth = (typeof endpointHealths)[number]

/** Health with its reason and since when. */
export function healthOf({
  state,
  reason,
  since,
  failingSince,
  recoveredAt,
}: {
  state: EndpointState
  reason: string | null
  since: Date
  /** The first failure after the last success; `null` while it works. */
  failingSince: Date | null
  /** The first success after it failed, was set or was resumed. */
  recoveredAt: Date | null
}): { health: EndpointHealth; reason: string | null; since: Date } {
  if (isFailing(state, failingSince)) {
    return { health: 'failing', reason: 'attempts_fail', since: failingSince }
  }
  if (state === 'active' && recoveredAt !== null && recoveredAt > since) {
    return { health: 'active', reason: 'recovered', since: recoveredAt }
  }
  return { health: state, reason, since }
}

/** What came of a test request that is no event. */
export interface PingOutcome {
  webhook_id: string
  ok: boolean
  status: number | null
  duration_ms: number
  error_code: string | null
  /** What to do about a failure. */
  hint: string | null
}
