import { expect, test } from '@jest/globals'
import * as fc from 'fast-check'
import { retryAfterMs } from '../../src/deliveries/retry-schedule.ts'

const now = new Date('1994-11-06T08:49:07Z')

test.each([
  ['0', 0],
  ['120', 120_000],
  [' 7 ', 7_000],
  ['Sun, 06 Nov 1994 08:49:37 GMT', 30_000],
  ['Sunday, 06-Nov-94 08:49:37 GMT', 30_000],
  ['Sun Nov  6 08:49:37 1994', 30_000],
  ['Sun, 06 Nov 1994 08:00:00 GMT', 0],
])('Retry-After %p is understood', (header, wait) => {
  expect(retryAfterMs(header, now)).toBe(wait)
})

test.each([
  null,
  undefined,
  '',
  ' ',
  '-1',
  '+1',
  '1.5',
  '1e3',
  '0x10',
  '1 2',
  '120s',
  'tomorrow',
  '1994-11-06T08:49:37Z',
  'Sun, 06 Nov 1994 08:49:37 PST',
  'Sun, 99 Nov 1994 08:49:37 GMT',
  'Sun, 06 Foo 1994 08:49:37 GMT',
  '\u0661\u0662',
])('Retry-After %p is not', (header) => {
  expect(retryAfterMs(header, now)).toBeUndefined()
})

test('any HTTP date gives the exact wait', () => {
  const date = fc.date({ min: new Date(0), max: new Date('9999-01-01'), noInvalidDate: true })
  fc.assert(
    fc.property(date, date, (at, from) => {
      const seconds = Math.floor(at.getTime() / 1000) * 1000
      expect(retryAfterMs(at.toUTCString(), from)).toBe(Math.max(0, seconds - from.getTime()))
    }),
  )
})

test('any text gives a wait of at least nothing, or none', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(retryAfterMs(text, now) ?? 0).toBeGreaterThanOrEqual(0)
    }),
  )
})
