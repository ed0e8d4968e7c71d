import { describe, expect, it } from '@jest/globals'
import { createTurns } from '../../src/core/database/locks/turns.ts'

/** Longer than any test. */
const PATIENT_MS = 60_000

describe('turns', () => {
  const without = async () => 'went without'

  it('are taken one at a time, in the order in which they were asked for, by those of one key', async () => {
    const inTurn = createTurns(PATIENT_MS)
    const begun: string[] = []
    const ends = new Map<string, (value: string) => void>()
    const take = (key: number, name: string) =>
      inTurn(
        key,
        async () => {
          begun.push(name)
          return new Promise<string>((resolve) => ends.set(name, resolve))
        },
        without,
      )
    const [first, second, third, other] = [
      take(1, 'first'),
      take(1, 'second'),
      take(1, 'third'),
      take(2, 'other'),
    ]
    await Promise.resolve()
    expect(begun).toEqual(['first', 'other'])
    ends.get('first')?.('done')
    expect(await first).toBe('done')
    expect(begun).toEqual(['first', 'other', 'second'])
    ends.get('second')?.('done')
    expect(await second).toBe('done')
    ends.get('third')?.('done')
    ends.get('other')?.('done')
    expect(await Promise.all([third, other])).toEqual(['done', 'done'])
    expect(await inTurn(1, async () => 'again', without)).toBe('again')
  })

  it('are passed on by what fails, and not waited for too long', async () => {
    const inTurn = createTurns(1)
    const failing = Promise.withResolvers<string>()
    const first = inTurn(1, () => failing.promise, without)
    expect(await inTurn(1, async () => 'in turn', without)).toBe('went without')
    failing.reject(new Error('failed'))
    await expect(first).rejects.toThrow('failed')
    expect(await inTurn(1, async () => 'in turn', without)).toBe('in turn')
  })
})
