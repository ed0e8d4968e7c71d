import { beforeAll, describe, expect, it } from '@jest/globals'
import * as fc from 'fast-check'
import { mockGains, simulatedGains } from '../../src/core/leads/decisions/mock-gains.ts'
import { SCORE_PERIOD_MS } from '../../src/core/leads/decisions/score-dates.ts'
import { ownTemporal } from '../support/own-temporal.ts'
import { prepareService, type Service } from '../support/service.ts'
import { until } from '../support/until.ts'
import { type SandboxPartner, sandboxPartner } from './partner.ts'

type Step =
  | { do: 'simulate'; events: string[] }
  | { do: 'advance'; to: object }
  | { do: 'pause' | 'resume' | 'fail' | 'work' }

const once = ['client_account_created', 'credit_scan_completed', 'contract_signed', 'escrow_funded']
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('simulate' as const),
      events: fc.array(fc.constantFrom(...once, 'score_update', 'client_engaged_in_chat'), {
        minLength: 1,
        maxLength: 4,
      }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('advance' as const),
      to: fc.oneof(
        fc.record({ days: fc.integer({ min: 1, max: 120 }) }),
        fc.record({ to: fc.constantFrom('next_score_update', 'next_retry', 'end') }),
      ),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constantFrom('pause' as const, 'resume' as const, 'fail' as const, 'work' as const),
    }),
  },
)

/** @returns the status of the answer. */
async function carryOut(partner: SandboxPartner, lead: number, step: Step): Promise<number> {
  switch (step.do) {
    case 'simulate': {
      const events = step.events.map((name) => ({ event_name: name }))
      return (await partner.simulate(lead, { events })).status
    }
    case 'advance': {
      const { status } = await partner.advance(lead, step.to)
      // it answers after ten seconds, and goes on
      await until(async () => {
        const clock = await partner.clock(lead)
        return clock.status === 200 && !clock.data.moving
      })
      return status
    }
    case 'pause':
    case 'resume':
      return (await partner.post(`${step.do}-endpoint`, {})).status
    default:
      return 200
  }
}

/** On a server that suggests it soon, runs continue as new in between. */
const runs = [
  { when: 'in one run', settings: [] },
  { when: 'in runs that continue as new', settings: ['limit.historyCount.suggestContinueAsNew=30'] },
]

describe.each(runs)('whatever is simulated, advanced, paused and refused, $when', ({ settings }) => {
  let service: Service
  let port: number | undefined

  beforeAll(async () => {
    const overrides = settings.length > 0 && { TEMPORAL_ADDRESS: (await ownTemporal(settings)).address }
    service = await prepareService({ ...overrides })
    ;[{ port }] = await Promise.all([service.startApi(), service.startWorker()])
  }, 60_000)

  it('leaves a history without gaps, on its own dates, and each webhook delivered once and in order', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyStep, { minLength: 2, maxLength: 9 }), async (steps) => {
        const partner = await sandboxPartner(service, port)
        const taken: number[] = []
        let works = true
        partner.endpoint.answer = ({ event }, response) => {
          if (works && event.data.sequence !== undefined) taken.push(event.data.sequence)
          response.writeHead(works ? 200 : 500).end()
        }
        const lead = await partner.createLead()
        const simulated: string[] = []
        const statuses: number[] = []
        for (const step of steps) {
          if (step.do === 'simulate') simulated.push(...step.events)
          if (step.do === 'fail' || step.do === 'work') works = step.do === 'work'
          statuses.push(await carryOut(partner, lead, step))
        }
        expect(new Set(statuses)).toEqual(new Set(statuses.length > 0 ? [200] : []))
        works = true
        await partner.post('resume-endpoint', {})
        await until(async () => {
          const { status, data } = await partner.advance(lead, { to: 'next_retry' })
          return status === 200 && data.next?.what !== 'retry' && (await openOf(lead)) === 0
        })
        await checkHistory(lead, simulated)
        const webhooks = (await deliveriesOf(lead)).length
        expect(taken).toEqual(Array.from({ length: webhooks }, (_, index) => index + 1))
        expect(partner.endpoint.arrivals.every(({ verified }) => verified)).toBe(true)
      }),
      { numRuns: 6 },
    )
  }, 180_000)

  const deliveriesOf = (lead: number) =>
    service.sql.selectFrom('deliveries').select(['sequence', 'state']).where('lead_id', '=', lead).execute()
  const openOf = async (lead: number) =>
    (await deliveriesOf(lead)).filter(({ state }) => state === 'pending').length

  /** What the same events give without a moved clock, and the timer's score updates between them. */
  async function checkHistory(lead: number, simulated: string[]): Promise<void> {
    const rows = await service.sql
      .selectFrom('lead_events')
      .select(['position', 'event_name', 'dedupe_key', 'event_payload', 'created_at'])
      .where('lead_id', '=', lead)
      .orderBy('position')
      .execute()
    expect(rows.map(({ position }) => position)).toEqual(rows.map((_, index) => index + 1))
    const dates = rows.map((row) => row.created_at.getTime())
    expect(dates).toEqual(dates.toSorted((one, other) => one - other))
    const timed = rows.filter((row) => row.dedupe_key.startsWith('score_update#'))
    const own = rows.filter((row) => !timed.includes(row)).map(({ event_name: name }) => name as string)
    const expected = simulated.filter(
      (name, index) => !once.includes(name) || simulated.indexOf(name) === index,
    )
    expect(own).toEqual(['lead_received', ...expected])
    const anchor = rows.find((row) => row.event_name === 'escrow_funded')?.created_at.getTime() ?? 0
    for (const [index, row] of timed.entries()) {
      const period = index + 1
      expect(row.dedupe_key).toBe(`score_update#${period}`)
      expect(row.event_payload).toEqual(mockGains(lead, row.dedupe_key, period))
      const late = row.created_at.getTime() - (anchor + period * SCORE_PERIOD_MS)
      expect([late >= 0, late < 60_000]).toEqual([true, true])
    }
    const scores = rows.filter((row) => row.event_name === 'score_update')
    const gains = scores.map((row, index) =>
      timed.includes(row) ? row.event_payload : simulatedGains(lead, index + 1),
    )
    expect(scores.map((row) => row.event_payload)).toEqual(gains)
  }
})
