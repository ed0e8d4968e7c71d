import { describe, expect, it } from '@jest/globals'
import { type HistoryEvent, resetPointOf } from '../../src/core/temporal/reset-point.ts'

/** A history in one word: tasks completed by the builds A, B and C, and x for a requested cancellation. */
function historyOf(word: string): HistoryEvent[] {
  return Array.from(`-${word}`, (letter, index) => ({
    eventId: index as unknown as HistoryEvent['eventId'],
    ...(/[A-Z]/.test(letter) && {
      workflowTaskCompletedEventAttributes: { workerVersion: { buildId: letter } },
    }),
    ...(letter === 'x' && { workflowExecutionCancelRequestedEventAttributes: {} }),
  }))
}

describe('a workflow whose task fails is taken back', () => {
  it.each([
    ['AABB', 3, 'B'],
    ['BBB', 1, 'B'],
    ['ABA', 3, 'A'],
    ['AA-B-', 4, 'B'],
    ['A', 1, 'A'],
  ])(
    'from %s to task %i: before all that the latest build did, and nothing before it',
    (word, eventId, build) => {
      expect(resetPointOf(historyOf(word))).toEqual({ eventId, build, dropsCancellation: false })
    },
  )

  it('nowhere before its first task was completed', () => {
    expect(resetPointOf(historyOf('--'))).toBeUndefined()
    expect(resetPointOf([])).toBeUndefined()
  })

  it('further at the next repair, if an earlier build was bad too', () => {
    expect(resetPointOf(historyOf('ABC'))).toMatchObject({ eventId: 3 })
    // the reset leaves the rest
    expect(resetPointOf(historyOf('AB'))).toMatchObject({ eventId: 2 })
  })

  it('to before a build’s first task, if one is named', () => {
    expect(resetPointOf(historyOf('ABAC'), 'B')).toMatchObject({ eventId: 2, build: 'B' })
    expect(resetPointOf(historyOf('ABAC'), 'D')).toBeUndefined()
  })

  it('and keeps in mind a cancellation that came since', () => {
    expect(resetPointOf(historyOf('ABxB'))).toMatchObject({ eventId: 2, dropsCancellation: true })
    expect(resetPointOf(historyOf('AxB'))).toMatchObject({ eventId: 3, dropsCancellation: false })
  })
})
