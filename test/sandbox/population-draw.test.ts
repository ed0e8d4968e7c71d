import { describe, expect, it } from '@jest/globals'
import * as fc from 'fast-check'
import {
  DAYS,
  defaultMix,
  drawBorrower,
  drawGains,
  drawJourney,
  drawKinds,
  type JourneyKind,
  journeyKindNames,
  MOST_ERASED,
} from '../../src/capabilities/sandbox/populations/decisions/journeys.ts'
import { LARGEST_SEED } from '../../src/capabilities/sandbox/populations/decisions/population.ts'
import { LARGEST_GAIN } from '../../src/core/leads/decisions/event-payloads.ts'
import { expectedWebhooks } from './population.ts'

const seeds = fc.integer({ min: 0, max: LARGEST_SEED })
const numbers = fc.integer({ min: 1, max: 1000 })
const kinds = fc.constantFrom(...journeyKindNames)
const weights = fc.integer({ min: 0, max: 5 })
const mixes = fc
  .record(Object.fromEntries(journeyKindNames.map((kind) => [kind, weights])))
  .filter((mix) => Object.values(mix).some((weight) => weight > 0))

const onboarding = ['client_account_created', 'credit_scan_completed', 'contract_signed', 'escrow_funded']
const scores = (count: number) => Array.from({ length: count }, () => 'score_update')

/** What journeys of a kind are, over many draws: each possible list of webhooks. */
const table: Record<JourneyKind, string[][]> = {
  steady_climb: [['lead_received', ...onboarding, ...scores(8), 'mortgage_ready']],
  steep_climb: [2, 3].map((count) => ['lead_received', ...onboarding, ...scores(count), 'mortgage_ready']),
  slow_climb: [['lead_received', ...onboarding, ...scores(8)]],
  stalled: [0, 1, 2, 3].map((count) => ['lead_received', ...onboarding.slice(0, count)]),
  closed: [0, 1, 2, 3, 4].map((count) => ['lead_received', ...onboarding.slice(0, count)]),
  chatty: [['lead_received', ...onboarding, ...scores(8), 'mortgage_ready']],
  late_milestones: [0, 1, 2].map((early) => {
    const late = onboarding.toSpliced(early, 2, onboarding[early + 1]!, onboarding[early]!)
    return ['lead_received', ...late, ...scores(8), 'mortgage_ready']
  }),
  repeated_milestones: [['lead_received', ...onboarding, ...scores(8), 'mortgage_ready']],
  erased: [1, 2, 3, 4].map((count) => ['lead_received', ...onboarding.slice(0, count)]),
}

describe('the draw of a population', () => {
  it.each(journeyKindNames)('has these journeys of the kind %s, and no others', (kind) => {
    const drawn = Array.from({ length: 200 }, (_, index) => expectedWebhooks(7, index + 1, kind))
    const different = new Set(drawn.map((webhooks) => webhooks.join()))
    expect([...different].toSorted()).toEqual(table[kind].map((webhooks) => webhooks.join()).toSorted())
  })

  it('is the same for the same seed, and a smaller one is the beginning of a larger one', () => {
    fc.assert(
      fc.property(seeds, mixes, fc.integer({ min: 1, max: 60 }), (seed, mix, size) => {
        const drawn = drawKinds({ seed, mix, size })
        expect(drawKinds({ seed, mix, size: size + 20 }).slice(0, size)).toEqual(drawn)
        const journeys = () => drawn.map((kind, index) => drawJourney(seed, index + 1, kind))
        expect(journeys()).toEqual(journeys())
      }),
    )
  })

  it('has only what the mix has, and few erasures', () => {
    fc.assert(
      fc.property(seeds, mixes, (seed, mix) => {
        const drawn = drawKinds({ seed, mix, size: 200 })
        const erased = drawn.filter((kind) => kind === 'erased')
        expect(erased.length).toBeLessThanOrEqual(MOST_ERASED)
        // what is too many of one is the other
        const allowed = (kind: JourneyKind) =>
          (mix[kind] ?? 0) > 0 || (kind === 'closed' && erased.length > 0)
        expect(drawn.every(allowed)).toBe(true)
      }),
    )
  })

  it('is about as the weights say', () => {
    const drawn = drawKinds({ seed: 1, mix: { ...defaultMix, erased: 0 }, size: 1000 })
    for (const kind of journeyKindNames) {
      const share = (1000 * (kind === 'erased' ? 0 : (defaultMix[kind] ?? 0))) / 98
      expect(Math.abs(drawn.filter((each) => each === kind).length - share)).toBeLessThan(45)
    }
  })

  it('has steps in the order of their days, within a year, and of another seed others', () => {
    fc.assert(
      fc.property(seeds, numbers, kinds, (seed, number, kind) => {
        const days = drawJourney(seed, number, kind).map(({ day }) => day)
        expect(days).toEqual(days.toSorted((one, other) => one - other))
        expect(days.every((day) => day >= 0 && day <= DAYS)).toBe(true)
      }),
    )
    const many = (seed: number) =>
      Array.from({ length: 50 }, (_, index) => drawJourney(seed, index, 'closed'))
    expect(many(1)).not.toEqual(many(2))
  })

  it('has gains that a score update may have', () => {
    fc.assert(
      fc.property(seeds, numbers, kinds, fc.integer({ min: 1, max: 9 }), (seed, number, kind, period) => {
        const { estimated_time_remaining: remaining, ...gains } = drawGains(seed, number, kind, period)
        expect(remaining).toMatch(/^\d+-\d+ days$/)
        for (const gain of Object.values(gains)) expect(Math.abs(gain)).toBeLessThanOrEqual(LARGEST_GAIN)
        expect(drawGains(seed, number, kind, period)).toEqual(drawGains(seed, number, kind, period))
      }),
    )
    const sum = (kind: JourneyKind) =>
      Array.from({ length: 50 }, (_, index) => drawGains(3, index + 1, kind, 1).experian_gain).reduce(
        (a, b) => a + b,
      )
    expect(sum('steep_climb')).toBeGreaterThan(sum('steady_climb'))
    expect(sum('steady_climb')).toBeGreaterThan(sum('slow_climb'))
  })

  it('names borrowers who do not exist', () => {
    fc.assert(
      fc.property(seeds, numbers, (seed, number) => {
        expect(Object.values(drawBorrower(seed, number)).every((name) => /^[A-Z][a-z]+$/.test(name))).toBe(
          true,
        )
      }),
    )
  })
})
