import { describe } from '@jest/globals'
import { goesOnAfterKill } from './killed-population.ts'

// some of whose leads have not begun yet; population-killed.nightly.ts has more
describe('a population whose worker and API are killed in the middle', () => {
  goesOnAfterKill({
    drawn: { seed: 9, size: 6, mix: { steady_climb: 2, closed: 1, repeated_milestones: 1 } },
    killedAfter: 8,
  })
})
