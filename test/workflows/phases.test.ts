import { readFileSync } from 'node:fs'
import { expect, test } from '@jest/globals'
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

const at = (part: Part, phase: Phase): Phases => ({ ...beginPhases({ closing: false }), [part]: phase })

test('the phases of a lead’s workflow are all in the table', () => {
  expect(rows).toHaveLength(12)
  expect(new Set(rows.map(({ part }) => part))).toEqual(new Set(Object.keys(at('lead', 'open'))))
})

test.each(rows)('$part: $phase is entered from $from, and from no other', ({ part, phase, from }) => {
  const entered = rows
    .filter((row) => row.part === part)
    .map((row) => row.phase)
    .filter((before) => {
      const journey = { phases: at(part, before) }
      try {
        enter(journey, part, phase)
      } catch {
        return false
      }
      return journey.phases[part] === phase
    })
  expect(entered.toSorted()).toEqual(from.toSorted())
})

test.each([
  [false, 'open'],
  [true, 'closing'],
])('are at rest when a run begins, closing: %s', (closing, lead) => {
  expect(beginPhases({ closing })).toEqual({ lead, inbox: 'idle', webhooks: 'idle', cadence: 'waiting' })
})
