import { readFileSync } from 'node:fs'
import { describe, expect, it, test } from '@jest/globals'
import type { ReferralState } from '../../src/leads/referral-state.ts'
import { beginJourney, carriedOf } from '../../workflows/journey.ts'
import { beginPhases, enter, type Phases } from '../../workflows/phases.ts'

// any part will do for the compiler
type Part = 'lead'
type Phase = Phases['lead']

/** The table of the docstring, as people read it. */
const source = readFileSync(new URL('../../workflows/phases.ts', import.meta.url), 'utf8')
const rows = Array.from(source.matchAll(/^ \* \| `(\w+)` +\| `(\w+)` +\| ([^|]+)\|/gm), (row) => ({
  part: row[1] as Part,
  phase: row[2] as Phase,
  from: Array.from(row[3]!.matchAll(/`(\w+)`/g), ([, before]) => before as Phase),
}))
const every = rows.flatMap(({ part, phase, from }) =>
  rows
    .filter((row) => row.part === part)
    .map(({ phase: before }) => ({ part, phase, before, isLegal: from.includes(before) })),
)

const at = (part: Part, phase: Phase): Phases => ({ ...beginPhases({ closing: false }), [part]: phase })

describe('the phases of a lead’s workflow', () => {
  it('are all in the table', () => {
    expect(rows).toHaveLength(12)
    expect(new Set(rows.map(({ part }) => part))).toEqual(new Set(Object.keys(at('lead', 'open'))))
  })

  test.each(every.filter(({ isLegal }) => isLegal))(
    '$part: $phase is entered from $before',
    ({ part, phase, before }) => {
      const journey = { phases: at(part, before) }
      enter(journey, part, phase)
      expect(journey.phases).toEqual(at(part, phase))
    },
  )

  test.each(every.filter(({ isLegal }) => !isLegal))(
    '$part: $phase is not entered from $before',
    ({ part, phase, before }) => {
      const journey = { phases: at(part, before) }
      expect(() => enter(journey, part, phase)).toThrow(`${part}: ${phase} cannot be entered from ${before}`)
      expect(journey.phases).toEqual(at(part, before))
    },
  )

  test.each([
    [false, 'open'],
    [true, 'closing'],
  ])('are at rest when a run begins, closing: %s', (closing, lead) => {
    const others = { inbox: 'idle', webhooks: 'idle', cadence: 'waiting' }
    expect(beginPhases({ closing })).toEqual({ lead, ...others })
  })
})

describe('a lead’s next run', () => {
  const STATE: ReferralState = {
    leadId: 1,
    partnerId: 1,
    firstEventId: 'evt_1',
    seen: ['lead_received'],
    lastEvent: 'lead_received',
    lastEventAt: 0,
    anchor: null,
    period: 1,
    isSandbox: false,
    offset: 0,
    next: 2,
    last: 1,
    endsAt: null,
    failure: null,
    closing: false,
  }

  it.each([true, false])(
    'reads the record again if this one was told to and has not: %p',
    (recordChanged) => {
      const journey = beginJourney(STATE)
      journey.recordChanged = recordChanged
      expect(beginJourney(STATE, carriedOf(journey)).recordChanged).toBe(recordChanged)
    },
  )
})
