import { describe, expect, test } from '@jest/globals'
import {
  decideAttempt,
  type DeliveryFacts,
  type EndpointFacts,
} from '../../src/deliveries/attempt-decision.ts'
import type { AttemptTrigger } from '../../src/deliveries/delivery-states.ts'

const now = new Date('2026-01-01T00:00:00Z')
const inSevenSeconds = new Date(now.getTime() + 7000)
const facts: DeliveryFacts & EndpointFacts = {
  state: 'pending',
  failures: 0,
  nextAttemptAt: now,
  isLeased: false,
  isErased: false,
  asked: null,
  interruptions: 0,
  url: 'https://lender.example',
  pausedBy: null,
}

const DELIVERED = { state: 'delivered' as const }
const GIVEN_UP = { state: 'given_up' as const }
const EARLY = { nextAttemptAt: inSevenSeconds }
const ASKED = { ...EARLY, asked: 'resend' as const }
const SEND = { kind: 'send' }
const HELD = { kind: 'held' }
const LEASED = { kind: 'wait', why: 'leased', forMs: 1000 }
const NOT_DUE = { kind: 'wait', why: 'not_due', forMs: 7000 }
const settled = (state: string) => ({ kind: 'settled', state })
const fail = (failures: number, forMs: number) => ({ kind: 'fail', failures, forMs })

describe('the next attempt of a delivery', () => {
  test.each<[string, AttemptTrigger, Partial<typeof facts>, object]>([
    ['is sent when it is due', 'scheduled', {}, SEND],
    ['is not made once it is delivered', 'scheduled', DELIVERED, settled('delivered')],
    ['is not made once it is given up', 'probe', GIVEN_UP, settled('given_up')],
    ['waits while another holds the lease', 'scheduled', { isLeased: true }, LEASED],
    ['waits for the lease as a resend', 'resend', { ...DELIVERED, isLeased: true }, LEASED],
    ['is forgotten for an erased lead', 'replay', { ...GIVEN_UP, isErased: true }, settled('canceled')],
    ['is forgotten once it is canceled', 'resend', { state: 'canceled' }, settled('canceled')],
    ['is held without a URL', 'probe', { url: null, pausedBy: 'service' }, HELD],
    ['is held while the service pauses', 'scheduled', { pausedBy: 'service' }, HELD],
    ['is held as a resend', 'resend', { ...DELIVERED, pausedBy: 'staff' }, HELD],
    ['is sent as a probe of what the service paused', 'probe', { pausedBy: 'service' }, SEND],
    ['is held as a probe of what staff paused', 'probe', { pausedBy: 'staff' }, HELD],
    ['is held as a probe of what the partner paused', 'probe', { pausedBy: 'partner' }, HELD],
    ['waits until it is due', 'scheduled', EARLY, NOT_DUE],
    ['does not wait as a probe', 'probe', EARLY, SEND],
    ['is made early as a resend when asked for', 'scheduled', ASKED, { ...SEND, as: 'resend' }],
    ['is scheduled if due, though asked for', 'scheduled', { asked: 'resend' }, SEND],
    ['is made again by a resend', 'resend', DELIVERED, SEND],
    ['is made again by a replay', 'replay', GIVEN_UP, SEND],
    ['is made again after two interruptions', 'scheduled', { interruptions: 2 }, SEND],
    ['fails at the third in a row', 'scheduled', { interruptions: 3, failures: 1 }, fail(2, 330_000)],
    ['fails then, though asked for', 'scheduled', { ...ASKED, interruptions: 3 }, fail(1, 5500)],
    ['is forgotten then as a replay', 'replay', { ...DELIVERED, interruptions: 3 }, settled('delivered')],
    ['is made then as a probe', 'probe', { interruptions: 3 }, SEND],
  ])('%s', (_, trigger, change, decision) => {
    const delivery = { ...facts, ...change }
    const expected = decision === SEND ? { ...SEND, as: trigger } : decision
    expect(decideAttempt(delivery, delivery, trigger, { now, random: () => 0.5 })).toEqual(expected)
  })
})
