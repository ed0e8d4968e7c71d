import { describe, expect, it } from '@jest/globals'
import { recentKeys } from '../../src/core/http/recent-keys.ts'

const MINUTE_MS = 60_000

describe('recent keys', () => {
  it('are those that were good within the last ten minutes', () => {
    let now = 1
    const keys = recentKeys({ now: () => now })
    expect(keys.has('a')).toBe(false)
    keys.set('a', true)
    now += 10 * MINUTE_MS - 1
    expect(keys.has('a')).toBe(true)
    keys.set('a', true)
    now += MINUTE_MS
    expect(keys.has('a')).toBe(true)
    now += 9 * MINUTE_MS + 1
    expect(keys.has('a')).toBe(false)
  })

  it('are forgotten when they are refused', () => {
    const keys = recentKeys({ now: () => 1 })
    keys.set('a', true)
    keys.delete('a')
    expect(keys.has('a')).toBe(false)
  })

  it('are 10,000 at most: the one that was used longest ago makes room', () => {
    let now = 0
    const keys = recentKeys({ now: () => (now += 1) })
    for (let index = 0; index < 10_000; index += 1) keys.set(`key ${index}`, true)
    keys.set('key 0', true)
    keys.set('one more', true)
    expect(['key 0', 'key 1', 'key 2', 'one more'].map((key) => keys.has(key))).toEqual([
      true,
      false,
      true,
      true,
    ])
  })
})
