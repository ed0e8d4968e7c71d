import { describe, expect, it } from '@jest/globals'
import {
  afterPage,
  RESET_BEGINS,
  type ResetProgress,
} from '../../src/capabilities/erasure/decisions/reset.ts'

describe('a reset goes on', () => {
  it.each<[ResetProgress, number | null, ResetProgress]>([
    [RESET_BEGINS, 100, { step: 'erase', after: 100 }],
    [{ step: 'erase', after: 100 }, null, { step: 'check', after: 0 }],
    [{ step: 'check', after: 0 }, 50, { step: 'check', after: 50 }],
    [{ step: 'check', after: 50 }, null, { step: 'finish', after: 0 }],
  ])('from %j after a page that ends with %j', (progress, last, next) => {
    expect(afterPage(progress, last)).toEqual(next)
  })
})
