import { describe, expect, test } from '@jest/globals'
import { endOf, readyOf } from '../../src/leads/score-dates.ts'
import { DAY_MS } from '../../src/values.ts'

describe('the end of a lead', () => {
  test('is thirty days after mortgage_ready', () => {
    const readyAt = new Date('2026-01-01T10:30:00.123Z')
    const end = endOf(readyAt)
    expect(end).toBe(readyAt.getTime() + 30 * DAY_MS)
    expect(readyOf(end)).toBe(readyAt.getTime())
  })

  test('is not known before', () => {
    expect([endOf(null), readyOf(null)]).toEqual([null, null])
  })
})
