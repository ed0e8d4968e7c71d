import { describe, expect, it } from '@jest/globals'
import { moment } from '../../src/staff/arguments.ts'

describe('the moment of --since', () => {
  const at = new Date('2026-03-02T15:04:05.120Z')
  const shown = JSON.parse(JSON.stringify(at)) as string

  it.each([
    [shown, at],
    ['2026-03-02 15:04:05', new Date('2026-03-02T15:04:05Z')],
    ['2026-03-02 15:04:05 UTC', new Date('2026-03-02T15:04:05Z')],
    ['2026-03-02T10:04:05.12-05:00', at],
    ['2026-03-02T20:34:05.12+0530', at],
    ['2026-03-02 17:04+02', new Date('2026-03-02T15:04:00Z')],
    ['2026-03-02', new Date('2026-03-02T00:00:00Z')],
  ])('can be %s', (text, expected) => {
    expect(moment(text)).toEqual(expected)
  })

  it.each(['', '2026', '2026-13-02', '2026-03-02T25:00', '2026-03-02T15', '2026-03-02+02:00', 'yesterday'])(
    'cannot be %j',
    (text) => {
      expect(() => moment(text)).toThrow('Use a time')
    },
  )
})
