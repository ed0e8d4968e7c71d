/** How a partner's endpoint is, in the words of staff, the partner's API, mails and the Temporal Web UI. */
export type EndpointHealth = 'active' | 'failing' | 'paused' | 'draining'

interface EndpointFacts {
  state: 'active' | 'paused' | 'draining'
  reason: string | null
  since: Date
  /** The first failure after the last success; `null` while it works. */
  failingSince: Date | null
}

/** Health with its reason and since when: `failing` is an endpoint that is called and takes nothing. */
export function healthOf({ state, reason, since, failingSince }: EndpointFacts): {
  health: EndpointHealth
  reason: string | null
  since: Date
} {
  if (state === 'active' && failingSince !== null) {
    return { health: 'failing', reason: 'attempts_fail', since: failingSince }
  }
  return { health: state, reason, since }
}

/** Reasons in words that go on after "because". */
const REASONS: Record<string, string> = {
  attempts_fail: 'it has taken nothing since then',
  no_endpoint: 'no URL is registered yet',
  gone: 'it answered 410 Gone',
  failing: 'it failed for 72 hours without one success',
  staff: 'staff paused it',
  resumed: 'staff resumed it',
  endpoint_set: 'its URL was set',
  endpoint_set_from_now: 'its URL was set, and what waited was left out',
  probe_succeeded: 'it took a probe',
}

export function describeReason(reason: string | null): string {
  return reason === null ? 'it works' : (REASONS[reason] ?? reason)
}
