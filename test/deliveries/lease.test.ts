import { expect, it } from '@jest/globals'
import * as fc from 'fast-check'
import { LEASE_MS } from '../../src/deliveries/delivery-states.ts'
import { createLeaseJudge } from '../../src/deliveries/delivery.ts'

const HOUR_MS = 3_600_000

/** Two processes that want a delivery, and the time that passes for both. */
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('ask' as const), by: fc.constantFrom(0, 1) }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('pass' as const), ms: fc.constantFrom(900, 5000, 21_000) }),
  },
)

it('one process at a time sends a delivery, and another takes it over by its monotonic clock alone', () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 5, maxLength: 60 }), (steps) => {
      let timeMs = 0
      let lease: string | null = null
      let sending: { by: number; endMs: number } | undefined
      const judges = [0, 1].map((by) => createLeaseJudge(() => timeMs + by * HOUR_MS))
      const ask = (by: number) => {
        if (judges[by]?.(lease) !== true || sending?.by === by) return false
        expect(sending).toBeUndefined()
        sending = { by, endMs: timeMs + LEASE_MS }
        lease = `att_${timeMs}_${by}`
        return true
      }
      const pass = (ms: number) => {
        timeMs += ms
        if (sending !== undefined && timeMs >= sending.endMs) sending = undefined
      }
      for (const each of steps) {
        if (each.do === 'ask') ask(each.by)
        else pass(each.ms)
      }
      let tries = 0
      for (; !ask(0); tries += 1) pass(1000)
      expect(tries).toBeLessThanOrEqual(LEASE_MS / 1000)
    }),
    { numRuns: 1000 },
  )
})
