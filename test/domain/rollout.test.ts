import { describe, expect, it, test } from '@jest/globals'
import { buildFault, type MeasuredBuild } from '../../src/core/temporal/decisions/build-fault.ts'
import { CANDIDATES, createSampler, TAKEN } from '../../src/core/temporal/decisions/history-sample.ts'
import { type Routing, whyIdle, type WorkerVersion } from '../../src/core/temporal/decisions/routing.ts'

const version = (buildId: string): WorkerVersion => ({ deploymentName: 'referrals', buildId })
const [one, two] = [version('one'), version('two')]
const command = 'temporal worker deployment'

describe('workers get no work', () => {
  const none: Routing = { current: undefined, ramping: undefined, share: 0 }
  const rows: [WorkerVersion | undefined, Partial<Routing>, string | undefined][] = [
    [one, { current: one }, undefined],
    [one, { current: one, ramping: two, share: 99 }, undefined],
    [two, { current: one, ramping: two, share: 0.5 }, undefined],
    [two, { ramping: two, share: 5 }, undefined],
    [undefined, {}, undefined],
    [undefined, { ramping: one, share: 99 }, undefined],
    // a ramp to no version is one to the workers without one
    [undefined, { current: one, share: 5 }, undefined],
    [one, {}, 'version one of referrals is neither current nor ramping'],
    [one, { current: two }, 'version one of referrals is neither current nor ramping'],
    [
      two,
      { current: one, ramping: two, share: 0 },
      'version two of referrals is neither current nor ramping',
    ],
    [
      one,
      { current: { ...one, deploymentName: 'other' } },
      'version one of referrals is neither current nor ramping',
    ],
    [one, { current: one, ramping: two, share: 100 }, 'version two of referrals ramps at 100 percent'],
    [one, { current: one, share: 100 }, 'workers without a version ramp at 100 percent'],
    [undefined, { ramping: one, share: 100 }, 'version one of referrals ramps at 100 percent'],
    [undefined, { current: one }, 'version one of referrals is current'],
  ]

  test.each(rows)('%j, with %j: %s', (workers, routing, reason) => {
    const [why] = whyIdle(workers, { ...none, ...routing })?.split(', so ') ?? []
    expect(why).toBe(reason)
  })

  test('and the reason names the command that changes it', () => {
    const of = (workers: WorkerVersion | undefined, routing: Partial<Routing>) =>
      whyIdle(workers, { ...none, ...routing })?.split(': ')[1]
    const name = '--yes --deployment-name referrals'
    expect(of(one, {})).toBe(`${command} set-current-version ${name} --build-id one`)
    expect(of(undefined, { current: one })).toBe(`${command} set-current-version ${name} --unversioned`)
    const ramp = `${command} set-ramping-version ${name}`
    expect(of(one, { current: one, ramping: two, share: 100 })).toBe(`${ramp} --build-id two --delete`)
    expect(of(one, { current: one, share: 100 })).toBe(`${ramp} --unversioned --delete`)
  })
})

describe('a sample of open workflows', () => {
  const run = (number: number, type = 'referral') => ({
    workflowId: `${type}-${number}`,
    runId: `run-${number}`,
    type,
    startedAt: new Date(number * 1000),
  })
  const sampleOf = (count: number, type = 'referral') => {
    const sampler = createSampler()
    for (let number = count; number > 0; number -= 1) sampler.show(run(number, type))
    return sampler.chosen()
  }
  const numbersOf = (runs: readonly { startedAt: Date }[]) =>
    runs.map(({ startedAt }) => Number(startedAt) / 1000)

  it('has all of them while they are few', () => {
    const [{ open, taken, others } = { open: 0, taken: [], others: [] }] = sampleOf(300)
    expect([open, taken.length, others.length]).toEqual([300, 300, 0])
  })

  it('has the oldest, the newest and 300 others of very many, and a thousand to look for the longest', () => {
    const [{ open, taken, others } = { open: 0, taken: [], others: [] }] = sampleOf(20_000)
    const numbers = new Set(numbersOf(taken))
    for (let step = 0; step < TAKEN.oldest; step += 1) {
      expect(numbers.has(1 + step)).toBe(true)
      expect(numbers.has(20_000 - step)).toBe(true)
    }
    expect(open).toBe(20_000)
    expect(numbers.size).toBe(taken.length)
    const random = TAKEN.random - 10
    expect(taken.length).toBeGreaterThan(TAKEN.oldest + TAKEN.newest + random)
    expect(others.length).toBeGreaterThan(CANDIDATES - TAKEN.random - 20)
    expect(new Set([...taken, ...others]).size).toBe(taken.length + others.length)
  })

  it('takes each of them equally often, whichever comes first', () => {
    const counts = { early: 0, late: 0 }
    for (let time = 0; time < 20; time += 1) {
      const [{ taken } = { taken: [] }] = sampleOf(2000)
      for (const number of numbersOf(taken)) counts[number <= 1000 ? 'early' : 'late'] += 1
    }
    // 20 times 50 of either end, and half of 20 times 300, give or take six standard deviations
    expect(counts.early).toBeGreaterThan(3700)
    expect(counts.late).toBeGreaterThan(3700)
  })

  it('has each type of workflow, however few there are', () => {
    const sampler = createSampler()
    for (let number = 1; number <= 5000; number += 1) sampler.show(run(number))
    for (const type of ['endpoint', 'erasure']) sampler.show(run(1, type))
    expect(sampler.chosen().map(({ type, open }) => [type, open])).toEqual([
      ['referral', 5000],
      ['endpoint', 1],
      ['erasure', 1],
    ])
  })
})

describe('a build must be taken back', () => {
  const quiet: MeasuredBuild = {
    pages: [],
    activities: [],
    attempts: { made: 100, delivered: 95 },
    attemptsOfOthers: { made: 1000, delivered: 960 },
  }
  const failing = { workflows: 2, example: 'lead-1', failure: 'Nondeterminism' }
  const rows: [string, Partial<MeasuredBuild>, string | undefined][] = [
    ['nothing', {}, undefined],
    ['an alert', { pages: ['ApiFails', 'WorkflowsFail'] }, 'alerts fire: ApiFails, WorkflowsFail'],
    ['an activity', { activities: ['welcome'] }, 'activities fail on it, and on no other build: welcome'],
    ['few attempts', { attempts: { made: 19, delivered: 0 } }, undefined],
    [
      'nobody to compare with',
      { attempts: { made: 99, delivered: 0 }, attemptsOfOthers: { made: 3, delivered: 3 } },
      undefined,
    ],
    [
      'refused webhooks',
      { attempts: { made: 20, delivered: 14 } },
      'endpoints accept 70 % of its webhooks, and 96 % of those of other builds',
    ],
    [
      'webhooks that endpoints refuse of all',
      { attempts: { made: 20, delivered: 10 }, attemptsOfOthers: { made: 100, delivered: 55 } },
      undefined,
    ],
  ]

  test.each(rows)('with %s', (_, change, fault) => {
    expect(buildFault({ failing: undefined, measured: { ...quiet, ...change } })).toBe(fault)
  })

  test('when workflows fail on it, whatever Prometheus has, if there is one', () => {
    const fault = 'the task of 2 workflows fails on it, of lead-1 for example: Nondeterminism'
    for (const measured of [quiet, undefined]) expect(buildFault({ failing, measured })).toBe(fault)
    expect(buildFault({ failing: undefined, measured: undefined })).toBeUndefined()
    expect(buildFault({ failing: { ...failing, workflows: 1 }, measured: undefined })).toContain(
      'of 1 workflow fails',
    )
  })
})
