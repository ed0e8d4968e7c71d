import { expect, it } from '@jest/globals'
import { anyCloseReasonNames, closeReasonOf, REFERENCE } from '../../src/leads/reasons.ts'

it('any text that is no reason is other', () => {
  expect(anyCloseReasonNames.map(closeReasonOf)).toEqual(anyCloseReasonNames)
  expect(['closed by staff', 'Ada Miller, born 1 Jan 1980', '', '__proto__'].map(closeReasonOf)).toEqual(
    Array(4).fill('other'),
  )
})

it.each(['', 'case-1', 'CASE 1', 'CASE-1\n', 'ADA.MILLER', 'Ä-1', 'A'.repeat(41)])(
  'a reference is a case number, not %j',
  (text) => {
    expect(REFERENCE.test(text)).toBe(false)
    expect(REFERENCE.test('CASE-26-118')).toBe(true)
  },
)
