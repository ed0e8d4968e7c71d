import { HOUR_MS } from '../values.ts'

/** How long an endpoint may fail without one success before it is paused. */
export const PAUSE_AFTER_HOURS = 72
export const PAUSE_AFTER_MS = PAUSE_AFTER_HOURS * HOUR_MS

/**
 * An endpoint is where a partner's webhooks go.
 *
 * | State    | Meaning                                                | Webhooks |
 * | -------- | ------------------------------------------------------ | -------- |
 * | `active` | it is called; shown as `failing` while it only fails   | sent     |
 * | `paused` | by staff, its partner or the service; or it has no URL | held     |
 *
 * An endpoint that a person paused stays paused until a person resumes it. The service probes one that it paused: first
 * after an hour, with exponential backoff up to a day.
 */
export type EndpointState = 'active' | 'paused'

export type EndpointPauser = 'staff' | 'partner' | 'service'

/** The facts that partner and staff get a mail about; `restored` is for the partner only. */
export type MailKind = 'failing' | 'paused' | 'recovered' | 'url_changed' | 'secret_changed' | 'restored'

interface Transition {
  /** `null`: it is active, and its earlier failures no longer count. */
  pausedBy: EndpointPauser | null
  /** Continues "because". */
  why: string
}

/** Transitions of an endpoint, by the reason that its row has for its state. */
export const endpointTransitions = {
  endpoint_set: { pausedBy: null, why: 'its URL was set' },
  endpoint_set_from_now: { pausedBy: null, why: 'its URL was set, and waiting webhooks were canceled' },
  partner: { pausedBy: 'partner', why: 'it was paused with pause-endpoint' },
  resumed_by_partner: { pausedBy: null, why: 'it was resumed with resume-endpoint' },
  staff: { pausedBy: 'staff', why: 'our staff paused it' },
  resumed: { pausedBy: null, why: 'our staff resumed it' },
  gone: { pausedBy: 'service', why: 'it answered 410 Gone' },
  failing: { pausedBy: 'service', why: `it accepted no webhook for ${PAUSE_AFTER_HOURS} hours` },
  probe_succeeded: { pausedBy: null, why: 'it accepted a probe' },
} as const satisfies Record<string, Transition>

export type EndpointTransition = keyof typeof endpointTransitions

/** Why an endpoint is in the state that is shown. */
const whys: Record<string, string> = {
  ...Object.fromEntries(Object.entries(endpointTransitions).map(([reason, { why }]) => [reason, why])),
  no_endpoint: 'no URL is registered yet',
  attempts_fail: 'every attempt since then has failed',
}

export const describeReason = (reason: string | null): string =>
  reason === null ? 'it works' : (whys[reason] ?? reason)
