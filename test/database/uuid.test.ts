import { afterEach, expect, jest, test } from '@jest/globals'
import { newEventId, recordedAt } from '../../src/leads/new-lead.ts'

const HOUR_MS = 3_600_000

afterEach(() => void jest.restoreAllMocks())

const clockIs = (epochMs: number) => void jest.spyOn(Date, 'now').mockReturnValue(epochMs)

test('ids are in the order in which they were made, within a millisecond and while the clock goes back a little', () => {
  const start = Date.now()
  const ids = [0, 0, 0, 1, 0, -999, 1, 2].map((aheadMs) => {
    clockIs(start + aheadMs)
    return newEventId()
  })
  expect(ids).toEqual(ids.toSorted())
  expect(new Set(ids).size).toBe(ids.length)
})

test('an id has the time of its making again once a clock that was ahead is set right', () => {
  const now = Date.now()
  clockIs(now + HOUR_MS)
  expect(recordedAt(newEventId()).getTime()).toBe(now + HOUR_MS)
  clockIs(now)
  expect(recordedAt(newEventId()).getTime()).toBe(now)
})
