import { describe, expect, test } from '@jest/globals'
import {
  decideAttempt,
  type DeliveryFacts,
  type EndpointFacts,
} from '../../src/core/deliveries/decisions/attempt-decision.ts'
import type { AttemptTrigger } from '../../src/core/deliveries/decisions/delivery.ts'

const now = new Date('2026-01-01T00:00:00Z')
const seconds = (count: number) => new Date(now.getTime() + count * 1000)

const delivery: DeliveryFacts = {
  state: 'pending',
  failures: 0,
  nextAttemptAt: now,
  leasedUntil: null,
  resendRequestedAt: null,
  interruptions: 0,
}
const endpoint: EndpointFacts = {
  url: 'https://lender.example',
  pausedBy: null,
  blockedUntil: null,
  pacedUntil: null,
  inFlight: 0,
  oldestLeaseEndsAt: null,
  due: 0,
}
const decide = (
  change: { delivery?: Partial<DeliveryFacts>; endpoint?: Partial<EndpointFacts> },
  trigger: AttemptTrigger = 'scheduled',
  random = 0.5,
) =>
  decideAttempt({ ...delivery, ...change.delivery }, { ...endpoint, ...change.endpoint }, trigger, {
    now,
    random: () => random,
  })

const SETTLED = { state: 'delivered' as const }
const SEND = { kind: 'send' }
const EARLY = { nextAttemptAt: seconds(7), resendRequestedAt: now }
const HELD = { kind: 'held' }
const LEASED = { kind: 'wait', why: 'leased', forMs: 1000 }

describe('the next attempt of a delivery', () => {
  test.each<[string, AttemptTrigger, Parameters<typeof decide>[0], object]>([
    ['is sent when it is due', 'scheduled', {}, SEND],
    [
      'is not made once it is delivered',
      'scheduled',
      { delivery: { state: 'delivered' } },
      { kind: 'settled', state: 'delivered' },
    ],
    [
      'is not made once it is given up',
      'probe',
      { delivery: { state: 'given_up' } },
      { kind: 'settled', state: 'given_up' },
    ],
    ['is made again by a resend', 'resend', { delivery: SETTLED }, SEND],
    [
      'is forgotten as a resend of what was canceled',
      'resend',
      { delivery: { ...SETTLED, state: 'canceled' } },
      { kind: 'forget', state: 'canceled' },
    ],
    [
      'is forgotten as a resend after three interruptions',
      'resend',
      { delivery: { ...SETTLED, interruptions: 3 } },
      { kind: 'forget', state: 'delivered' },
    ],
    ['is made again by a replay', 'replay', { delivery: { state: 'given_up' } }, SEND],
    ['waits while another holds the lease', 'scheduled', { delivery: { leasedUntil: seconds(1) } }, LEASED],
    [
      'waits for the lease as a resend too',
      'resend',
      { delivery: { ...SETTLED, leasedUntil: seconds(1) } },
      LEASED,
    ],
    ['does not wait for a lease that has ended', 'scheduled', { delivery: { leasedUntil: now } }, SEND],
    ['is held without a URL', 'probe', { endpoint: { url: null, pausedBy: 'service' } }, HELD],
    ['is held while the service pauses', 'scheduled', { endpoint: { pausedBy: 'service' } }, HELD],
    [
      'is held while staff pause, as a resend too',
      'resend',
      { delivery: SETTLED, endpoint: { pausedBy: 'staff' } },
      HELD,
    ],
    ['is sent as a probe of what the service paused', 'probe', { endpoint: { pausedBy: 'service' } }, SEND],
    ['is held as a probe of what staff paused', 'probe', { endpoint: { pausedBy: 'staff' } }, HELD],
    ['is held as a probe of what the partner paused', 'probe', { endpoint: { pausedBy: 'partner' } }, HELD],
    [
      'waits until it is due',
      'scheduled',
      { delivery: { nextAttemptAt: seconds(7) } },
      { kind: 'wait', why: 'not_due', forMs: 7000 },
    ],
    [
      'is tried before as a resend, when asked for',
      'scheduled',
      { delivery: EARLY },
      { ...SEND, as: 'resend' },
    ],
    [
      'is tried when asked for though the endpoint is left alone',
      'scheduled',
      { delivery: EARLY, endpoint: { blockedUntil: seconds(60) } },
      { ...SEND, as: 'resend' },
    ],
    [
      'is not the eleventh, though asked for',
      'scheduled',
      { delivery: EARLY, endpoint: { inFlight: 10, due: 20, oldestLeaseEndsAt: seconds(15) } },
      { kind: 'wait', why: 'busy', forMs: 10_000 },
    ],
    [
      'fails at the third interruption, though asked for',
      'scheduled',
      { delivery: { ...EARLY, interruptions: 3 } },
      { kind: 'fail', failures: 1, forMs: 5500 },
    ],
    [
      'is of its schedule when it is due, though asked for',
      'scheduled',
      { delivery: { resendRequestedAt: now } },
      SEND,
    ],
    ['does not wait as a probe', 'probe', { delivery: { nextAttemptAt: seconds(7) } }, SEND],
    [
      'stands back while the endpoint is left alone',
      'scheduled',
      { endpoint: { blockedUntil: seconds(1), due: 0 } },
      { kind: 'wait', why: 'busy', forMs: 1000 },
    ],
    [
      'waits for its second at a paced endpoint, and for those before it',
      'scheduled',
      { endpoint: { pacedUntil: seconds(0.5), due: 30 } },
      { kind: 'wait', why: 'busy', forMs: 30_000 },
    ],
    [
      'waits for its second at a paced endpoint, though asked for',
      'scheduled',
      { delivery: EARLY, endpoint: { pacedUntil: seconds(0.5) } },
      { kind: 'wait', why: 'busy', forMs: 1000 },
    ],
    [
      'does not wait for a clock that was ahead when the endpoint was left alone',
      'scheduled',
      { endpoint: { blockedUntil: seconds(86_400) } },
      SEND,
    ],
    [
      'does not wait for a clock that was ahead when the endpoint was paced',
      'scheduled',
      { endpoint: { pacedUntil: seconds(86_400) } },
      SEND,
    ],
    ['has its second at a paced endpoint', 'scheduled', { endpoint: { pacedUntil: seconds(0) } }, SEND],
    ['is the tenth in flight', 'scheduled', { endpoint: { inFlight: 9 } }, SEND],
    [
      'is not the eleventh',
      'scheduled',
      { endpoint: { inFlight: 10, due: 20, oldestLeaseEndsAt: seconds(15) } },
      { kind: 'wait', why: 'busy', forMs: 10_000 },
    ],
    ['is made again after two interruptions', 'scheduled', { delivery: { interruptions: 2 } }, SEND],
    [
      'fails at the third interruption in a row',
      'scheduled',
      { delivery: { interruptions: 3, failures: 1 } },
      { kind: 'fail', failures: 2, forMs: 330_000 },
    ],
    [
      'fails again at the sixth',
      'scheduled',
      { delivery: { interruptions: 6 } },
      { kind: 'fail', failures: 1, forMs: 5500 },
    ],
    ['is made as a probe after three interruptions', 'probe', { delivery: { interruptions: 3 } }, SEND],
  ])('%s', (_, trigger, change, decision) => {
    expect(decide(change, trigger)).toEqual(decision === SEND ? { ...SEND, as: trigger } : decision)
  })

  test.each([
    ['as long as requests take now', { due: 100, oldestLeaseEndsAt: seconds(18) }, 20_000],
    ['by 15 s a turn beside an endpoint that hangs', { due: 100, oldestLeaseEndsAt: seconds(0) }, 150_000],
    ['five minutes at most', { due: 100_000, oldestLeaseEndsAt: seconds(5) }, 300_000],
    ['a second at least', { due: 1, oldestLeaseEndsAt: seconds(20) }, 1000],
  ])('stands back %s', (_, load, forMs) => {
    expect(decide({ endpoint: { inFlight: 10, ...load } })).toEqual({ kind: 'wait', why: 'busy', forMs })
  })

  test('stands back with a jitter of a fifth to both sides', () => {
    const full = { endpoint: { inFlight: 10, due: 100, oldestLeaseEndsAt: seconds(18) } }
    expect(decide(full, 'scheduled', 0)).toMatchObject({ forMs: 16_000 })
    expect(decide(full, 'scheduled', 0.999999)).toMatchObject({ forMs: 24_000 })
  })
})
