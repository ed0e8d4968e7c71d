import { describe, expect, it } from '@jest/globals'
import { createFailedTasks, failureIn } from '../../src/core/temporal/failed-tasks.ts'

describe('what the SDK says of a failed task', () => {
  it.each([
    [
      'Workflow … failed: Failure { failure: Some(Failure { message: "no \\"x\\"\\nat y", source: "" }) }',
      'no "x" at y',
    ],
    ['Failure { message: "cut off', 'cut off'],
    ['Failure { message: "ends with a backslash\\', 'ends with a backslash\\'],
    ['in other\twords', 'in other words'],
    ['', ''],
  ])('is cut down to the failure’s message: %j', (message, expected) => {
    expect(failureIn(message)).toBe(expected)
  })

  it('is bounded, however long it is', () => {
    expect(failureIn(`message: "${'x'.repeat(1_000_000)}"`)).toHaveLength(300)
  })
})

describe('the tasks that failed on a worker', () => {
  it('are handed out once, those that failed first before the others', () => {
    const failed = createFailedTasks()
    for (const runId of ['a', 'b', 'a', 'c']) failed.note(runId, '')
    expect(failed.take(2).map(({ runId }) => runId)).toEqual(['a', 'b'])
    failed.note('a', '')
    expect(failed.take(9).map(({ runId }) => runId)).toEqual(['c', 'a'])
    expect(failed.take(9)).toEqual([])
  })

  it('are bounded while nobody takes them', () => {
    const failed = createFailedTasks()
    for (let run = 0; run < 30_000; run += 1) failed.note(String(run), '')
    expect(failed.take(Infinity)).toHaveLength(20_000)
  })
})
