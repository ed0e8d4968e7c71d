import { describe, expect, test } from '@jest/globals'
import {
  type CalledEndpoint,
  decideFailure,
  type FailedAttemptFacts,
  type FailedRequest,
} from '../../src/deliveries/outcome-decision.ts'
import { RETRY_DELAYS_MS } from '../../src/deliveries/retry-schedule.ts'

const HOUR = 3_600_000
const now = new Date('2026-01-01T00:00:00Z')
const hoursAgo = (hours: number) => new Date(now.getTime() - hours * HOUR)
const inMs = (ms: number) => new Date(now.getTime() + ms)

type Facts = FailedAttemptFacts & CalledEndpoint & FailedRequest
const facts: Facts = {
  trigger: 'scheduled',
  holdsLease: true,
  state: 'pending',
  failures: 0,
  nextAttemptAt: now,
  previousAt: null,
  pausedBy: null,
  failingSince: null,
  isCurrent: true,
  status: 500,
  errorCode: 'http_error',
  retryAfter: null,
}
const decide = (change: Partial<Facts>) => {
  const all = { ...facts, ...change }
  return decideFailure(all, all, all, { now, random: () => 0 })
}

const NOTHING = { delivery: null, endpoint: null, notices: [] }
const LAST = RETRY_DELAYS_MS.length
const last = { failures: LAST - 1, previousAt: hoursAgo(24) }

describe('a failed attempt', () => {
  test('changes nothing once its lease is gone', () => {
    expect(decide({ holdsLease: false, status: 410 })).toEqual({ end: 'superseded', ...NOTHING })
  })

  test.each(['resend', 'replay', 'probe'] as const)('changes nothing as a %s', (trigger) => {
    expect(decide({ trigger, state: 'delivered', status: 410 })).toEqual({ end: 'failed', ...NOTHING })
  })

  test('keeps its place in the schedule as a resend of an open delivery', () => {
    const place = { failures: 3, nextAttemptAt: inMs(HOUR) }
    const delivery = { ...place, isGivenUp: false }
    expect(decide({ ...place, trigger: 'resend', status: 410 })).toEqual({
      ...NOTHING,
      end: 'failed',
      delivery,
    })
  })

  test('is tried again, and the endpoint fails from then on', () => {
    expect(decide({})).toEqual({
      end: 'failed',
      delivery: { failures: 1, nextAttemptAt: inMs(5000), isGivenUp: false },
      endpoint: { failingSince: now },
      notices: [],
    })
    expect(decide({ failingSince: hoursAgo(0.01) })).toMatchObject({ end: 'failed', endpoint: null })
  })

  test('that is the third in a row is reported', () => {
    const notices = [{ kind: 'failing', reason: 'the endpoint answered 500' }]
    expect(decide({ failures: 2 }).notices).toEqual(notices)
    expect(decide({ failures: 3 }).notices).toEqual([])
  })

  test.each<[string, Partial<Facts>, string]>([
    ['410 at the first failure', { status: 410 }, 'gone'],
    ['410 at the last, though others got through', { ...last, status: 410 }, 'gone'],
    ['72 hours without a success', { failures: 2, failingSince: hoursAgo(72) }, 'failing'],
    ['no answer for 80 hours', { failures: 9, failingSince: hoursAgo(80), status: null }, 'failing'],
  ])('pauses the endpoint and holds the delivery: %s', (_, change, transition) => {
    expect(decide(change)).toMatchObject({
      end: 'held',
      delivery: { isGivenUp: false },
      endpoint: { transition },
      notices: expect.arrayContaining([{ kind: 'paused', reason: transition }]),
    })
  })

  test.each([
    ['a minute before 72 hours', 2, 72 - 1 / 60],
    ['at the second failure of the webhook, however long ago the first was', 1, 200],
  ])('does not pause %s', (_, failures, hours) => {
    expect(decide({ failures, failingSince: hoursAgo(hours) }).end).toBe('failed')
  })

  test.each<[string, Partial<Facts>, string]>([
    ['the last, of an endpoint that works', last, 'given_up'],
    [
      'the last, if others got through since the one before',
      { ...last, failingSince: hoursAgo(1) },
      'given_up',
    ],
    ['a later one too', { ...last, failures: LAST }, 'given_up'],
    ['not the last but one', { failures: LAST - 2 }, 'failed'],
    ['not the last if nothing got through since', { ...last, failingSince: hoursAgo(25) }, 'failed'],
    ['not if the one before was the first to fail', { ...last, failingSince: last.previousAt }, 'failed'],
  ])('gives up: %s', (_, change, end) => {
    const decision = decide(change)
    expect(decision.end).toBe(end)
    expect(decision.delivery?.isGivenUp).toBe(end === 'given_up')
    expect(decision.notices.some(({ kind }) => kind === 'given_up')).toBe(end === 'given_up')
  })

  test.each<[string, Partial<Facts>, string]>([
    ['410', { status: 410 }, 'failed'],
    ['503 with Retry-After', { status: 503, retryAfter: '86400' }, 'failed'],
    ['410 after a pause by staff', { status: 410, pausedBy: 'staff' }, 'held'],
  ])('of an endpoint that is another by now does not judge it: %s', (_, change, end) => {
    const delivery = { failures: LAST, nextAttemptAt: inMs(24 * HOUR), isGivenUp: false }
    const decision = decide({ ...last, ...change, isCurrent: false, failingSince: hoursAgo(80) })
    expect(decision).toEqual({ ...NOTHING, end, delivery })
  })
})
