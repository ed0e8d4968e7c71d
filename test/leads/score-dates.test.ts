import { expect, it } from '@jest/globals'
import { aheadText } from '../../src/leads/score-dates.ts'

it.each([
  [85 * 86_400_000, '85 days'],
  [86_400_000, '1 day'],
  [5_400_000, '1.5 hours'],
  [90_000, '1.5 minutes'],
  [1000, '1 second'],
])('a clock that was moved by %d ms is %s ahead', (ms, words) => expect(aheadText(ms)).toBe(words))
