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
  state: 'pending',
  failures: 0,
  nextAttemptAt: now,
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
    { now, random: () => 0 },
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
    const settled = { trigger, state: 'delivered' as const }
    expect(decide({ attempt: settled, request: { status: 410 } })).toEqual({
      end: 'failed',
      ...NOTHING,
    })
  })

  test('keeps its place in the schedule as a resend of an open delivery', () => {
    const place = { failures: 3, nextAttemptAt: inMs(HOUR), lastButOneAt: null }
    expect(decide({ attempt: { ...place, trigger: 'resend' }, request: { status: 410 } })).toEqual({
      ...NOTHING,
      end: 'failed',
      delivery: { ...place, isGivenUp: false },
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

  test.each([
    ['a minute before 72 hours', { failures: 3 }, 72 - 1 / 60],
    ['with three failures of the webhook, however long ago the first was', { failures: 2 }, 200],
  ])('does not pause %s', (_, failed, hours) => {
    expect(decide({ attempt: failed, endpoint: { failingSince: hoursAgo(hours) } }).end).toBe('failed')
  })

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
