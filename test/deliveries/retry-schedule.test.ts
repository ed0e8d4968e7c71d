import { describe, expect, test } from '@jest/globals'
import * as fc from 'fast-check'
import {
  attemptDelayMs,
  nextAttemptAt,
  RETRY_DELAYS_MS,
  SCHEDULE_DAYS,
} from '../../src/deliveries/retry-schedule.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const now = new Date('2026-01-01T00:00:00Z')
const noJitter = () => 0
const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })

describe('the retry schedule', () => {
  test('begins at once, has a wait for each attempt, and goes on with one a day', () => {
    const delays = RETRY_DELAYS_MS.map((_, failures) => attemptDelayMs(failures, noJitter))
    expect(delays).toEqual(RETRY_DELAYS_MS)
    expect(delays[0]).toBe(0)
    expect(delays.reduce((sum, delay) => sum + delay)).toBe(SCHEDULE_DAYS * DAY)
    expect(attemptDelayMs(RETRY_DELAYS_MS.length, noJitter)).toBe(DAY)
    expect(attemptDelayMs(500, noJitter)).toBe(DAY)
  })

  test('spreads each wait over the fifth above it, never below', () => {
    fc.assert(
      fc.property(fc.nat({ max: 30 }), chance, (failures, random) => {
        const scheduled = RETRY_DELAYS_MS[failures] ?? DAY
        const delay = attemptDelayMs(failures, () => random)
        expect(delay).toBeGreaterThanOrEqual(scheduled)
        expect(delay).toBeLessThanOrEqual(scheduled * 1.2)
      }),
    )
    expect(attemptDelayMs(1, () => 0.5)).toBe(5_500)
  })
})

describe('the next attempt', () => {
  const after = (failures: number, retryAfter: string | null) =>
    nextAttemptAt({ failures, retryAfter, now, random: noJitter }).getTime() - now.getTime()

  test.each([
    ['seconds longer than the schedule count', 1, '120', 120_000],
    ['a date later than the schedule counts', 1, 'Thu, 01 Jan 2026 00:10:00 GMT', 600_000],
    ['seconds shorter than the schedule do not', 2, '1', 300_000],
    ['a date in the past does not', 2, 'Thu, 01 Jan 2015 00:00:00 GMT', 300_000],
    ['zero does not', 1, '0', 5_000],
    ['a negative number does not', 1, '-1', 5_000],
    ['garbage does not', 1, 'soon', 5_000],
    ['ten years count as a day', 1, '315360000', DAY],
    ['a date in ten years counts as a day', 1, 'Tue, 01 Jan 2036 00:00:00 GMT', DAY],
    ['a number beyond all numbers counts as a day', 1, '9'.repeat(400), DAY],
    ['none leaves the schedule', 3, null, HOUR / 2],
  ])('waits by Retry-After within the schedule and a day: %s', (_, failures, retryAfter, delay) => {
    expect(after(failures, retryAfter)).toBe(delay)
  })

  test('lies between the scheduled wait and a day and a fifth, whatever Retry-After holds', () => {
    const header = fc.option(
      fc.oneof(
        fc.string(),
        fc.integer().map(String),
        fc.date({ noInvalidDate: true }).map((date) => date.toUTCString()),
      ),
    )
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 20 }), header, chance, (failures, retryAfter, random) => {
        const delay =
          nextAttemptAt({ failures, retryAfter, now, random: () => random }).getTime() - now.getTime()
        expect(delay).toBeGreaterThanOrEqual(attemptDelayMs(failures, () => random))
        expect(delay).toBeLessThanOrEqual(DAY * 1.2)
      }),
    )
  })
})
