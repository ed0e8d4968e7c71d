import { describe, expect, test } from '@jest/globals'
import * as fc from 'fast-check'
import {
  attemptDelayMs,
  inRound,
  nextAttemptAt,
  RETRY_DELAYS_MS,
  SCHEDULE_DAYS,
} from '../../src/deliveries/retry-schedule.ts'

const DAY = 86_400_000
const now = new Date('2026-01-01T00:00:00Z')
const noJitter = () => 0

describe('the retry schedule', () => {
  test('begins at once, has a wait for each attempt, and goes on with one a day', () => {
    const delays = RETRY_DELAYS_MS.map((_, failures) => attemptDelayMs(failures, noJitter))
    expect(delays).toEqual(RETRY_DELAYS_MS)
    expect(delays[0]).toBe(0)
    expect(delays.reduce((sum, delay) => sum + delay)).toBe(SCHEDULE_DAYS * DAY)
    expect(attemptDelayMs(RETRY_DELAYS_MS.length, noJitter)).toBe(DAY)
    expect(attemptDelayMs(500, noJitter)).toBe(DAY)
    expect(attemptDelayMs(1, () => 0.5)).toBe(5_500)
  })

  test('lies between the scheduled wait and a day and a fifth, whatever Retry-After holds', () => {
    const header = fc.option(
      fc.oneof(
        fc.string({ unit: 'binary' }),
        fc.integer().map(String),
        fc.date({ noInvalidDate: true }).map((date) => date.toUTCString()),
      ),
    )
    const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 20 }), header, chance, (failures, retryAfter, random) => {
        const next = nextAttemptAt(failures, retryAfter, { now, random: () => random })
        const delay = next.getTime() - now.getTime()
        expect(delay).toBeGreaterThanOrEqual(RETRY_DELAYS_MS[failures] ?? DAY)
        expect(delay).toBeLessThanOrEqual(DAY * 1.2)
      }),
    )
  })

  test.each<readonly [string, string | null, number]>([
    ['seconds longer than the schedule', '120', 120_000],
    ['seconds shorter than the schedule', '1', 5_000],
    ['a number beyond all numbers', '9'.repeat(400), DAY],
    ['a date', 'Thu, 01 Jan 2026 00:02:00 GMT', 120_000],
    ['a date that has passed', 'Sun, 06 Nov 1994 08:49:37 GMT', 5_000],
    ...[
      'soon',
      '',
      '-120',
      '120.5',
      '1e3',
      '120s',
      '2026-01-01T00:02:00Z',
      'Sun, 99 Nov 2026 08:49:37 GMT',
    ].map((garbage) => [`garbage ${garbage}`, garbage, 5_000] as const),
    ['nothing', null, 5_000],
  ])('waits by Retry-After within the schedule and a day: %s', (_, retryAfter, delay) => {
    const next = nextAttemptAt(1, retryAfter, { now, random: noJitter })
    expect(next.getTime() - now.getTime()).toBe(delay)
  })

  test.each([
    ['has not failed, though the database’s clock was ahead when it was made', 0],
    ['failed in another round', 2],
  ])('is at its beginning, and due now, for a delivery that %s', (_, round) => {
    const stored = { round, failures: round, nextAttemptAt: new Date(now.getTime() + DAY) }
    expect(inRound(stored, 3, now)).toEqual({ round, failures: 0, nextAttemptAt: now })
    expect(inRound(stored, round, now)).toEqual(stored)
  })
})
