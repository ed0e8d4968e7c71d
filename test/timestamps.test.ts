import { expect, test } from '@jest/globals'
import { formatTimestamp } from '../src/values.ts'

test('a timestamp is in UTC, whatever the zone it was given in, and cut to the second', () => {
  expect(formatTimestamp(new Date('2026-03-01T01:02:03.999+05:30'))).toBe('2026-02-28 19:32:03')
})
