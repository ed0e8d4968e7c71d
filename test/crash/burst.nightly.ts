import { describe } from '@jest/globals'
import { survivesKill } from './killed-burst.ts'

describe('score updates that are due at once, among which the worker is killed', () => {
  survivesKill({ size: 60, killedAfter: 20 })
})
