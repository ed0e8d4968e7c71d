import { describe, expect, it } from '@jest/globals'
import { recentKeys } from '../../src/core/http/recent-keys.ts'

const MINUTE_MS = 60_000

describe('recent keys', () => {
  it('are those that were good within the last ten minutes', () => {
    let now = 0
    const keys = recentKeys(() => now)
    expect(keys.has('a')).toBe(false)
    keys.add('a')
    now += 10 * MINUTE_MS - 1
    expect(keys.has('a')).toBe(true)
    keys.add('a')
    now += MINUTE_MS
    expect(keys.has('a')).toBe(true)
    now += 9 * MINUTE_MS
    expect(keys.has('a')).toBe(false)
  })

  it('are forgotten when they are refused', () => {
    const keys = recentKeys(() => 0)
    keys.add('a')
    keys.delete('a')
    expect(keys.has('a')).toBe(false)
  })

  it('are 10,000 at most: the one that was used longest ago makes room', () => {
    let now = 0
    const keys = recentKeys(() => (now += 1))
    for (let index = 0; index < 10_000; index += 1) keys.add(`key ${index}`)
    keys.add('key 0')
    keys.add('one more')
    expect(['key 0', 'key 1', 'key 2', 'one more'].map(keys.has)).toEqual([true, false, true, true])
  })
})
