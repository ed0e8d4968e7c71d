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

const attempt: FailedAttemptFacts = {
  trigger: 'scheduled',
  holdsLease: true,
  failures: 0,
  lastButOneAt: null,
}
const endpoint: CalledEndpoint = {
  pausedBy: null,
  failingSince: null,
  incident: null,
  isCurrent: true,
}
const request: FailedRequest = { status: 500, errorCode: 'http_error', retryAfter: null }

interface Change {
  attempt?: Partial<FailedAttemptFacts>
  endpoint?: Partial<CalledEndpoint>
  request?: Partial<FailedRequest>
}
const decide = (change: Change) =>
  decideFailure(
    { ...attempt, ...change.attempt },
    { ...endpoint, ...change.endpoint },
    { ...request, ...change.request },
    {
      now,
      random: () => 0,
    },
  )

const NOTHING = { delivery: null, endpoint: null, notices: [] }
const LAST = RETRY_DELAYS_MS.length
const last = { failures: LAST - 1, lastButOneAt: hoursAgo(24) }

describe('a failed attempt', () => {
  test('changes nothing once its lease is gone', () => {
    expect(decide({ attempt: { holdsLease: false }, request: { status: 410 } })).toEqual({
      end: 'superseded',
      ...NOTHING,
    })
  })

  test.each(['resend', 'replay', 'probe'] as const)('changes nothing as a %s', (trigger) => {
    expect(decide({ attempt: { trigger }, request: { status: 410 } })).toEqual({
      end: 'failed',
      ...NOTHING,
    })
  })

  test('is tried again, and the endpoint fails from then on', () => {
    expect(decide({})).toEqual({
      end: 'failed',
      delivery: { failures: 1, nextAttemptAt: inMs(5000), isGivenUp: false, lastButOneAt: null },
      endpoint: { failingSince: now },
      notices: [],
    })
  })

  test('of an endpoint that fails already changes the delivery only', () => {
    expect(decide({ endpoint: { failingSince: hoursAgo(0.01) } })).toMatchObject({
      end: 'failed',
      endpoint: null,
    })
  })

  test('is tried again as late as Retry-After asks', () => {
    const { delivery } = decide({ request: { status: 429, retryAfter: '60' } })
    expect(delivery?.nextAttemptAt).toEqual(inMs(60_000))
  })

  test('that is the fourth in a row is told of, and is incident to operators once', () => {
    expect(decide({ attempt: { failures: 3 } })).toMatchObject({
      endpoint: { incident: 'failing' },
      notices: [{ kind: 'failing', reason: 'the endpoint answered 500' }],
    })
    const told = decide({
      attempt: { failures: 3 },
      endpoint: { failingSince: hoursAgo(1), incident: 'paused' },
    })
    expect(told).toMatchObject({ endpoint: null, notices: [{ kind: 'failing' }] })
    expect(decide({ attempt: { failures: 4 } }).notices).toEqual([])
  })

  test('names the error when there was no answer', () => {
    const { notices } = decide({
      attempt: { failures: 3 },
      request: { status: null, errorCode: 'dns_error' },
    })
    expect(notices).toEqual([{ kind: 'failing', reason: 'dns_error' }])
  })

  test.each([
    ['410 at the first failure', { request: { status: 410 } }, 'gone'],
    [
      '72 hours without a success',
      { attempt: { failures: 3 }, endpoint: { failingSince: hoursAgo(72) } },
      'failing',
    ],
    [
      'no answer for 80 hours',
      { attempt: { failures: 9 }, endpoint: { failingSince: hoursAgo(80) }, request: { status: null } },
      'failing',
    ],
    ['410 at the last, though others got through', { attempt: last, request: { status: 410 } }, 'gone'],
  ])('pauses the endpoint and holds the delivery: %s', (_, change: Change, transition) => {
    expect(decide(change)).toMatchObject({
      end: 'held',
      delivery: { isGivenUp: false },
      endpoint: { transition, incident: 'paused' },
      notices: expect.arrayContaining([{ kind: 'paused', reason: transition }]),
    })
  })

  test('a minute before 72 hours does not pause', () => {
    const failing = { failingSince: hoursAgo(72 - 1 / 60) }
    expect(decide({ attempt: { failures: 3 }, endpoint: failing }).end).toBe('failed')
  })

  test.each([0, 1, 2])(
    'of a webhook that failed %i times does not pause: what failed before may be gone, and nothing tried since',
    (failures) => {
      const failing = { failingSince: hoursAgo(200) }
      expect(decide({ attempt: { failures }, endpoint: failing }).end).toBe('failed')
    },
  )

  test.each<[string, Change, string]>([
    ['the last, of an endpoint that works', { attempt: last }, 'given_up'],
    [
      'the last, when others got through since the last but one',
      { attempt: last, endpoint: { failingSince: hoursAgo(1) } },
      'given_up',
    ],
    ['a later one too', { attempt: { ...last, failures: LAST } }, 'given_up'],
    ['the last but one is not', { attempt: { failures: LAST - 2 } }, 'failed'],
    [
      'the last goes on when nothing got through since',
      { attempt: last, endpoint: { failingSince: hoursAgo(25) } },
      'failed',
    ],
    [
      'the last goes on when nothing got through since the last but one, with which the endpoint began to fail',
      { attempt: last, endpoint: { failingSince: last.lastButOneAt } },
      'failed',
    ],
    [
      'the last goes on when the date of the last but one is not known',
      { attempt: { failures: LAST - 1 } },
      'failed',
    ],
  ])('gives up: %s', (_, change, end) => {
    const decision = decide(change)
    expect(decision.end).toBe(end)
    expect(decision.delivery?.isGivenUp).toBe(end === 'given_up')
    expect(decision.notices.some(({ kind }) => kind === 'given_up')).toBe(end === 'given_up')
  })

  test.each([
    [LAST - 3, null, null],
    [LAST - 2, null, now],
    [LAST - 1, hoursAgo(24), hoursAgo(24)],
    [LAST - 1, null, now],
  ])('after %i failures, with %s as the date of the last but one, keeps %s', (failures, before, after) => {
    expect(decide({ attempt: { failures, lastButOneAt: before } }).delivery?.lastButOneAt).toEqual(after)
  })

  test.each([
    ['410', { status: 410 }, null, 'failed'],
    ['503 with Retry-After', { status: 503, retryAfter: '86400' }, null, 'failed'],
    ['410 after a pause by staff', { status: 410 }, 'staff' as const, 'held'],
  ])('of an endpoint that is another by now judges it not: %s', (_, answer, pausedBy, end) => {
    const called = { isCurrent: false, pausedBy, failingSince: hoursAgo(80) }
    expect(decide({ request: answer, endpoint: called, attempt: last })).toEqual({
      end,
      delivery: {
        failures: LAST,
        nextAttemptAt: inMs(24 * HOUR),
        isGivenUp: false,
        lastButOneAt: last.lastButOneAt,
      },
      endpoint: null,
      notices: [],
    })
  })
})
