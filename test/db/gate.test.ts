import { mock } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import type { Begun } from '../../src/core/deliveries/statements/begin-attempt.ts'
import { createDeliveryGate, type DeliveryGate } from '../../src/core/deliveries/statements/gate.ts'

const PARTNER = 1
const OTHER = 2
const HELD: Begun = { kind: 'held' }
const lockTimeout = Object.assign(new Error('canceling statement due to lock timeout'), { code: '55P03' })

describe('the gate of attempts', () => {
  let gate: DeliveryGate
  /** Who is inside, in the order in which they came in, and how each goes out. */
  let inside: Map<string, PromiseWithResolvers<Begun>>

  beforeEach(() => {
    mock.timers.enable({ apis: ['setTimeout', 'Date'] })
    // no jitter
    mock.method(Math, 'random', () => 0.5)
    gate = createDeliveryGate({ places: 2 })
    inside = new Map()
  })

  afterEach(() => {
    mock.reset()
  })

  const enter = (name: string) => async () => {
    const work = Promise.withResolvers<Begun>()
    inside.set(name, work)
    return work.promise.finally(() => inside.delete(name))
  }
  const begin = (name: string, partnerId = PARTNER) => gate.begin(partnerId, enter(name))
  const finish = (name: string) => gate.finish(PARTNER, enter(name))
  const beginAll = (...several: string[]) => several.map((name) => begin(name))
  const names = () => [...inside.keys()]
  /** What waits for a timer gets its turn before the next one is due. */
  const passMs = async (ms: number) => {
    await turn()
    for (let passed = 0; passed < ms; passed++) {
      mock.timers.tick(1)
      await turn()
    }
  }
  const settle = async () => passMs(0)
  const endWell = async (name: string) => {
    inside.get(name)?.resolve(HELD)
    await settle()
  }
  const comesBackIn = (forMs: number): Begun => ({ kind: 'wait', why: 'locked', forMs })
  /** A partner of which all attempts wait for a lock that somebody else holds. */
  const getStuck = async () => {
    const first = begin('first')
    await settle()
    inside.get('first')?.reject(lockTimeout)
    expect(await first).toEqual(comesBackIn(1000))
  }

  describe('lets in a first attempt', () => {
    const none = async () => 'none'

    it('while a place is free, however the one before ended', async () => {
      const failing = Promise.withResolvers<string>()
      const lasting = Promise.withResolvers<string>()
      const first = gate.firstAttempt(() => failing.promise, none)
      const second = gate.firstAttempt(() => lasting.promise, none)
      expect(await gate.firstAttempt(async () => 'made', none)).toBe('none')
      failing.reject(new Error('failed'))
      await expect(first).rejects.toThrow('failed')
      expect(await gate.firstAttempt(async () => 'made', none)).toBe('made')
      lasting.resolve('made')
      expect(await second).toBe('made')
    })
  })

  describe('lets in a recording', () => {
    const record = (name: string, partnerId = PARTNER) =>
      gate.record<Begun | string>(partnerId, enter(name), async () => 'only recorded')

    it('when the one before it of its partner is out', async () => {
      const [first, second, other] = [record('first'), record('second'), record('other', OTHER)]
      await settle()
      expect(names()).toEqual(['first', 'other'])
      await endWell('first')
      expect(names()).toEqual(['other', 'second'])
      await endWell('second')
      await endWell('other')
      expect(await Promise.all([first, second, other])).toEqual([HELD, HELD, HELD])
    })

    it('not at all, when that takes 250 ms', async () => {
      const first = record('first')
      const second = record('second')
      await passMs(249)
      expect(names()).toEqual(['first'])
      await passMs(1)
      expect(await second).toBe('only recorded')
      await endWell('first')
      expect(await first).toBe(HELD)
    })

    it('beside four that begin', async () => {
      void beginAll('a', 'b', 'c', 'd')
      void record('recording')
      await settle()
      expect(names().toSorted()).toEqual(['a', 'b', 'c', 'd', 'recording'])
    })
  })

  describe('of a partner that is free', () => {
    it('lets in four at a time, in their order, and another’s beside them', async () => {
      void beginAll('a', 'b', 'c', 'd', 'e', 'f')
      void begin('other', OTHER)
      await settle()
      expect(names()).toEqual(['a', 'b', 'c', 'd', 'other'])
      await endWell('c')
      expect(names()).toEqual(['a', 'b', 'd', 'other', 'e'])
    })

    it('lets in one that finishes before those that wait to begin', async () => {
      void beginAll('a', 'b', 'c', 'd', 'e')
      void finish('finishing')
      await settle()
      await endWell('a')
      expect(names()).toEqual(['b', 'c', 'd', 'finishing'])
    })

    it('passes on what fails for another reason, and lets the next in', async () => {
      const [first, ...others] = beginAll('a', 'b', 'c', 'd', 'e')
      await settle()
      inside.get('a')?.reject(new Error('failed'))
      await expect(first).rejects.toThrow('failed')
      expect(names()).toEqual(['b', 'c', 'd', 'e'])
      for (const name of names()) await endWell(name)
      expect(await Promise.all(others)).toEqual([HELD, HELD, HELD, HELD])
    })
  })

  describe('of a partner that is stuck', () => {
    it('lets in one at a time, and turns others away', async () => {
      await getStuck()
      void begin('trying')
      await settle()
      expect(names()).toEqual(['trying'])
      expect(await begin('turned away')).toEqual(comesBackIn(1000))
    })

    it('is so since one has waited for a second to begin, too', async () => {
      const others = beginAll('a', 'b', 'c', 'd')
      const waiting = begin('e')
      await passMs(999)
      expect(names()).toEqual(['a', 'b', 'c', 'd'])
      await passMs(1)
      expect(await waiting).toEqual(comesBackIn(1000))
      expect(await begin('turned away')).toEqual(comesBackIn(1000))
      for (const name of names()) inside.get(name)?.reject(new Error('failed'))
      await Promise.allSettled(others)
      void begin('trying')
      await settle()
      expect(await begin('turned away')).toEqual(comesBackIn(1000))
      expect(names()).toEqual(['trying'])
    })

    it('lets in four again once one has succeeded', async () => {
      await getStuck()
      const trying = begin('trying')
      await settle()
      await endWell('trying')
      expect(await trying).toBe(HELD)
      void beginAll('a', 'b', 'c', 'd', 'e')
      await settle()
      expect(names()).toEqual(['a', 'b', 'c', 'd'])
    })

    it('counts those that it turns away from one on again, once one has succeeded', async () => {
      void beginAll('a', 'b', 'c', 'd')
      const turnAway = async (...more: string[]) => {
        const late = beginAll(...more)
        await passMs(1000)
        return late.at(-1)
      }
      expect(await turnAway('e')).toEqual(comesBackIn(1000))
      await Promise.all(Array.from({ length: 98 }, () => begin('turned away')))
      expect(await begin('turned away')).toEqual(comesBackIn(2000))
      await endWell('a')
      expect(await turnAway('f', 'g')).toEqual(comesBackIn(1000))
    })

    it('turns attempts away at fifty a second, for eight seconds at most', async () => {
      await getStuck()
      void begin('trying')
      const answers = await Promise.all(Array.from({ length: 999 }, () => begin('turned away')))
      expect(answers[48]).toEqual(comesBackIn(1000))
      expect(answers[198]).toEqual(comesBackIn(4000))
      expect(answers[998]).toEqual(comesBackIn(8000))
    })

    it('tries to finish an attempt again only when the one before is out', async () => {
      await getStuck()
      const first = finish('first')
      const second = finish('second')
      await passMs(60_000)
      expect(names()).toEqual(['first'])
      inside.get('first')?.reject(lockTimeout)
      await expect(first).rejects.toThrow(lockTimeout)
      expect(names()).toEqual(['second'])
      await endWell('second')
      expect(await second).toBe(HELD)
    })
  })
})
