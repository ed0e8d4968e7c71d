import { describe } from '@jest/globals'
import { survivesKill } from './killed-burst.ts'

// burst.nightly.ts has more
describe('score updates that are due at once, among which the worker is killed', () => {
  survivesKill({ size: 24, killedAfter: 4 })
})
