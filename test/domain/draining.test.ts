import { expect, test } from '@jest/globals'
import { wakePauseMs } from '../../src/core/endpoints/decisions/draining.ts'

test('twenty leads are woken a second, however many at a time', () => {
  expect([1, 3, 5].map((woken) => wakePauseMs(woken, 0))).toEqual([50, 150, 250])
})

test('an endpoint without room is asked less and less often, every five seconds at last', () => {
  expect([1, 2, 3, 4, 5, 6, 7, 2000].map((full) => wakePauseMs(0, full))).toEqual([
    250, 500, 1000, 2000, 4000, 5000, 5000, 5000,
  ])
})
