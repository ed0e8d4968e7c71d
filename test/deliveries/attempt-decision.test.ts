import { describe, expect, test } from '@jest/globals'
import {
  decideAttempt,
  type DeliveryFacts,
  type EndpointFacts,
} from '../../src/deliveries/attempt-decision.ts'
import type { AttemptTrigger } from '../../src/deliveries/delivery-states.ts'

const now = new Date('2026-01-01T00:00:00Z')
const seconds = (count: number) => new Date(now.getTime() + count * 1000)

const delivery: DeliveryFacts = {
  state: 'pending',
  failures: 0,
  nextAttemptAt: now,
  isLeased: false,
  isErased: false,
  resendRequestedAt: null,
  interruptions: 0,
}
const endpoint: EndpointFacts = {
  url: 'https://lender.example',
  pausedBy: null,
}
const decide = (
  change: { delivery?: Partial<DeliveryFacts>; endpoint?: Partial<EndpointFacts> },
  trigger: AttemptTrigger = 'scheduled',
) =>
  decideAttempt({ ...delivery, ...change.delivery }, { ...endpoint, ...change.endpoint }, trigger, {
    now,
    random: () => 0.5,
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
    ['waits while another holds the lease', 'scheduled', { delivery: { isLeased: true } }, LEASED],
    ['waits for the lease as a resend too', 'resend', { delivery: { ...SETTLED, isLeased: true } }, LEASED],
    [
      'is forgotten as a replay of an erased lead',
      'replay',
      { delivery: { state: 'given_up', isErased: true } },
      { kind: 'forget', state: 'canceled' },
    ],
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
    ['is made again after two interruptions', 'scheduled', { delivery: { interruptions: 2 } }, SEND],
    [
      'fails at the third interruption in a row',
      'scheduled',
      { delivery: { interruptions: 3, failures: 1 } },
      { kind: 'fail', failures: 2, forMs: 330_000 },
    ],
    ['is made as a probe after three interruptions', 'probe', { delivery: { interruptions: 3 } }, SEND],
  ])('%s', (_, trigger, change, decision) => {
    expect(decide(change, trigger)).toEqual(decision === SEND ? { ...SEND, as: trigger } : decision)
  })
})
