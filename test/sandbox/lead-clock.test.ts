import { describe, expect, test } from '@jest/globals'
import { SCORE_PERIOD_DAYS as PERIOD } from '../../src/leads/score-dates.ts'
import { dateOf, dueDates, furthestOf, isBusy, type LeadClock } from '../../src/sandbox/lead-clock.ts'
import { DAY_MS } from '../../src/values.ts'

const now = 1000 * DAY_MS
const clock: LeadClock = {
  leadId: 1,
  status: 'escrow_funded',
  now,
  offset: 0,
  closedAt: null,
  anchor: null,
  period: 1,
  endsAt: null,
  open: null,
  position: 1,
}
const open = { failures: 0, nextAttemptAt: now + DAY_MS }

describe('what is due next on a lead’s clock', () => {
  test.each<[string, Partial<LeadClock>, [string, number][]]>([
    ['nothing before escrow_funded', {}, []],
    ['the score update after the last', { anchor: now, period: 2 }, [['score_update', 2 * PERIOD]]],
    ['the latest of several missed', { anchor: now - (2 * PERIOD + 9) * DAY_MS }, [['score_update', -9]]],
    ['the end, and no more score updates', { anchor: now, endsAt: now + 30 * DAY_MS }, [['end', 30]]],
    [
      'a retry, in its place',
      { anchor: now, open: { ...open, failures: 3 } },
      [
        ['retry', 1],
        ['score_update', PERIOD],
      ],
    ],
    ['nothing for a webhook that did not fail', { open }, []],
    [
      'only retries once it is closed',
      { anchor: now, endsAt: now, closedAt: now, open: { ...open, failures: 1 } },
      [['retry', 1]],
    ],
  ])('%s', (_, change, expected) => {
    const dates = dueDates({ ...clock, ...change }).map(({ what, at }) => [what, (at - now) / DAY_MS])
    expect(dates).toEqual(expected)
  })

  test.each<[string, Partial<LeadClock>, boolean]>([
    ['a webhook waits for its retry', { open: { ...open, failures: 1 } }, false],
    ['a webhook is being sent', { open: { ...open, nextAttemptAt: null } }, true],
    ['a webhook is to be sent', { open: { ...open, nextAttemptAt: now } }, true],
    ['a score update is due', { anchor: now - PERIOD * DAY_MS }, true],
    ['it has ended', { endsAt: now, closedAt: now }, false],
  ])('is busy, or not: %s', (_, change, expected) => {
    expect(isBusy({ ...clock, ...change })).toBe(expected)
  })
})

test('a clock stops at the next date of a kind, and twenty years ahead of ours, however far it is by now', () => {
  const funded = { ...clock, anchor: now, open: { ...open, failures: 1 } }
  expect(dateOf(clock, 'next_retry')).toBeUndefined()
  expect(dateOf(funded, 'next_retry')).toBe(now + DAY_MS)
  expect(dateOf(funded, 'next_score_update')).toBe(now + PERIOD * DAY_MS)
  const ahead = { ...clock, now: now + DAY_MS, offset: DAY_MS }
  expect((furthestOf(ahead) - now) / DAY_MS).toBe(20 * 365.25)
})
