import { expect, test } from '@jest/globals'
import * as fc from 'fast-check'
import type { AttemptTrigger } from '../../src/deliveries/delivery-states.ts'
import type { EndpointTransition } from '../../src/endpoints/endpoint-state.ts'
import { LEADS, Life, WEBHOOKS } from './life.ts'

const passing = fc.record({
  do: fc.constant('pass' as const),
  seconds: fc.constantFrom(1, 21, 600, 7200, 90_000),
})
const beginning = fc.record({
  do: fc.constant('begin' as const),
  lead: fc.nat(LEADS - 1),
  trigger: fc.constantFrom<AttemptTrigger[]>('scheduled', 'scheduled', 'scheduled', 'probe'),
})
const ending = fc.record({
  do: fc.constant('end' as const),
  which: fc.nat(20),
  status: fc.constantFrom(200, 500, 500, 503, 410, null),
})
const changing = fc.record({
  do: fc.constant('transition' as const),
  transition: fc.constantFrom<EndpointTransition[]>('staff', 'resumed', 'endpoint_set'),
})
const step = fc.oneof(
  { weight: 2, arbitrary: passing },
  { weight: 10, arbitrary: beginning },
  { weight: 4, arbitrary: ending },
  { weight: 1, arbitrary: changing },
)

test('whatever happens, each webhook is settled once, no wait is too short, and a pause loses nothing', () => {
  fc.assert(
    fc.property(
      fc.array(step, { maxLength: 200 }),
      fc.infiniteStream(fc.double({ min: 0, max: 0.99, noNaN: true })),
      (steps, chance) => {
        const life = new Life(() => chance.next().value ?? 0)
        for (const each of steps) {
          const { underWay } = life
          if (each.do === 'pass') life.pass(each.seconds)
          else if (each.do === 'transition') life.transition(each.transition)
          else if (each.do === 'begin') {
            const delivery = life.first(each.lead)
            if (delivery !== undefined) life.begin(delivery, each.trigger)
          } else {
            const attempt = underWay[each.which % Math.max(1, underWay.length)]
            if (attempt !== undefined) life.end(attempt, each.status)
          }
        }
        // the endpoint works again: open webhooks are sent, each lead's in order
        life.transition('resumed')
        const open = life.deliveries.filter(({ state }) => state === 'pending')
        for (const attempt of life.underWay) life.end(attempt, null)
        for (const delivery of open) {
          expect(life.first(delivery.leadId)).toBe(delivery)
          for (let tries = 0; delivery.state === 'pending'; tries += 1) {
            expect(tries).toBeLessThan(20)
            if (life.begin(delivery, 'scheduled') === 'send') life.end(life.underWay[0]!, 200)
            else life.pass(600)
          }
        }
        expect(life.deliveries.filter(({ state }) => state === 'pending')).toEqual([])
        expect(new Set(life.settled).size).toBe(life.settled.length)
        expect(life.settled).toHaveLength(LEADS * WEBHOOKS)
      },
    ),
    { numRuns: 300 },
  )
})
