import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { DAY_MS } from '../../src/values.ts'
import { SCORE_PERIOD_MS } from '../../src/leads/score-dates.ts'
import { RETRY_DELAYS_MS } from '../../src/deliveries/retry-schedule.ts'
import { endpointOf } from '../support/endpoint-states.ts'
import { type SharedService, sharedService } from '../support/shared-service.ts'
import { until } from '../support/until.ts'
import { type Happened, type SandboxPartner, sandboxPartner } from './partner.ts'

const ms = (timestamp: string) => Date.parse(`${timestamp.replace(' ', 'T')}Z`)
const events = (happened: Happened[]) => happened.filter(({ what }) => what === 'event')
const webhooks = (happened: Happened[]) => happened.filter(({ what }) => what === 'webhook')

interface Closed {
  closed_at: string
}

describe('a lead’s clock', () => {
  let service: SharedService
  let port: number | undefined
  let partner: SandboxPartner

  beforeAll(async () => {
    service = await sharedService()
    ;({ port } = service)
  }, 60_000)

  async function begin(): Promise<void> {
    partner = await sandboxPartner(service, port)
  }
  beforeEach(begin)

  async function funded(): Promise<{ lead: number; anchor: number }> {
    const lead = await partner.createLead()
    const { data } = await partner.simulate(lead, { event_name: 'escrow_funded' })
    await partner.endpoint.until(() => partner.arrivals(lead).length === 2)
    return { lead, anchor: ms(data.events[0]?.created_at ?? '') }
  }

  it('brings a year’s eight score updates in one call, 45 days apart, with their webhooks in order', async () => {
    const { lead, anchor } = await funded()
    const { status, data } = await partner.advance(lead, { days: 365 })
    expect([status, data.status]).toEqual([200, 'score_update'])
    expect(ms(data.now) - anchor).toBeGreaterThanOrEqual(365 * DAY_MS)
    const dates = events(data.happened).map(({ at }) => ms(at) - anchor)
    expect(dates).toHaveLength(8)
    for (const [index, date] of dates.entries())
      expect(Math.abs(date - (index + 1) * SCORE_PERIOD_MS)).toBeLessThan(5000)
    expect(webhooks(data.happened).map(({ sequence }) => sequence)).toEqual([3, 4, 5, 6, 7, 8, 9, 10])
    expect(data.next).toEqual({ what: 'score_update', at: expect.any(String) })
    const arrived = partner.arrivals(lead).map((event) => event.data)
    expect(arrived.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
    expect(arrived.slice(2).map(({ created_at: at }) => at)).toEqual(
      events(data.happened).map(({ at }) => at),
    )
  })

  it('moves to the next score update, then to the end, and nothing else', async () => {
    const { lead } = await funded()
    const other = await funded()
    const { data } = await partner.advance(lead, { to: 'next_score_update' })
    expect(data.happened.map(({ what }) => what)).toEqual(['event', 'webhook'])
    await partner.simulate(lead, { event_name: 'mortgage_ready' })
    const ended = await partner.advance(lead, { to: 'end' })
    expect(ended.data.happened.at(-1)?.what).toBe('end')
    expect(ended.data).toMatchObject({ status: 'mortgage_ready', next: null })
    const closed = await partner.advance(lead, { days: 1 })
    expect([closed.status, closed.error?.code]).toEqual([409, 'LEAD_CLOSED'])
    expect((await partner.clock(other.lead)).data).toMatchObject({
      offset_seconds: 0,
      status: 'escrow_funded',
    })
  })

  it('goes on after the lead’s end, which keeps its date', async () => {
    const lead = await partner.createLead()
    const { data } = await partner.simulate(lead, { event_name: 'mortgage_ready' })
    const ready = ms(data.events[0]?.created_at ?? '')
    const advanced = await partner.advance(lead, { days: 365 })
    expect(ms(advanced.data.now) - ready).toBeGreaterThanOrEqual(365 * DAY_MS)
    const { data: listed } = (await partner.post('list-leads', {})) as unknown as { data: [Closed] }
    expect(Math.abs(ms(listed[0].closed_at) - ready - 30 * DAY_MS)).toBeLessThan(5000)
  })

  it('has nothing to advance to before there is a date', async () => {
    const lead = await partner.createLead()
    for (const to of ['next_score_update', 'next_retry', 'end']) {
      const { status, data } = await partner.advance(lead, { to })
      expect([status, data.happened, data.next]).toEqual([200, [], null])
    }
    expect((await partner.clock(lead)).data).toMatchObject({ offset_seconds: 0, moving: false })
  })

  it('shows the lead’s time: events, updates, and the next attempt', async () => {
    const { lead } = await funded()
    partner.endpoint.answer = (_, response) => void response.writeHead(500).end()
    await partner.advance(lead, { days: 100 })
    const { data } = await partner.clock(lead)
    const read = (await partner.post('get-lead', { lead_id: lead })) as unknown as {
      data: { updated_at: string }
    }
    expect(ms(data.now) - ms(read.data.updated_at)).toBeLessThan(56 * DAY_MS)
    const deliveries = (await partner.post('get-deliveries', { lead_id: lead })) as unknown as {
      data: { state: string; next_attempt_at: string }[]
    }
    const open = deliveries.data.find(({ state }) => state === 'pending')
    expect(ms(open?.next_attempt_at ?? '') - ms(data.now)).toBeGreaterThanOrEqual(-1000)
  })

  it('retries a failing webhook by production’s schedule, and goes on in order once it works', async () => {
    const lead = await partner.createLead()
    await partner.endpoint.until(() => partner.arrivals(lead).length === 1)
    partner.endpoint.answer = (_, response) => void response.writeHead(500).end()
    await partner.simulate(lead, {
      events: [{ event_name: 'contract_signed' }, { event_name: 'escrow_funded' }],
    })
    const first = await partner.advance(lead, { to: 'next_retry' })
    expect(webhooks(first.data.happened).at(-1)).toMatchObject({ sequence: 2, attempt: 2, status: 500 })
    const { data } = await partner.advance(lead, { days: 1 })
    const attempts = webhooks(data.happened)
    expect(attempts.map(({ attempt }) => attempt)).toEqual([3, 4, 5, 6, 7])
    const dates = [...webhooks(first.data.happened).slice(-1), ...attempts].map(({ at }) => ms(at))
    for (const [index, date] of dates.slice(1).entries()) {
      const wait = date - (dates[index] ?? 0)
      const planned = RETRY_DELAYS_MS[index + 2] ?? 0
      expect(wait).toBeGreaterThanOrEqual(planned - 2000)
      expect(wait).toBeLessThanOrEqual(planned * 1.2 + 5000)
    }
    partner.endpoint.answer = (_, response) => void response.writeHead(200).end()
    const works = await partner.advance(lead, { to: 'next_retry' })
    expect(webhooks(works.data.happened).map(({ sequence, status }) => [sequence, status])).toEqual([
      [2, 200],
      [3, 200],
    ])
    expect(works.data.next?.what).toBe('score_update')
  })

  it('stops where production would pause the endpoint', async () => {
    const lead = await partner.createLead()
    await partner.endpoint.until(() => partner.arrivals(lead).length === 1)
    partner.endpoint.answer = (_, response) => void response.writeHead(500).end()
    await partner.simulate(lead, { event_name: 'escrow_funded' })
    const { data } = await partner.advance(lead, { days: 60 })
    expect(data.stopped).toBe('endpoint_would_pause')
    expect(webhooks(data.happened).at(-1)).toMatchObject({ attempt: 10, status: 500 })
    expect(events(data.happened)).toEqual([])
    partner.endpoint.answer = (_, response) => void response.writeHead(200).end()
    const works = await partner.advance(lead, { days: 60 })
    expect(works.data.stopped).toBeUndefined()
    expect(works.data.status).toBe('score_update')
  })

  it('does not stop for the age of an event, if the endpoint accepted another webhook since', async () => {
    const lead = await partner.createLead()
    await partner.endpoint.until(() => partner.arrivals(lead).length === 1)
    const refuse = (sequence: number) => {
      partner.endpoint.answer = ({ event }, response) =>
        void response.writeHead(event.data.sequence === sequence ? 500 : 200).end()
    }
    refuse(2)
    await partner.simulate(lead, {
      events: [{ event_name: 'contract_signed' }, { event_name: 'escrow_funded' }],
    })
    await partner.advance(lead, { days: 3 })
    refuse(3)
    const first = await partner.advance(lead, { to: 'next_retry' })
    expect(webhooks(first.data.happened).at(-1)).toMatchObject({ sequence: 3, attempt: 1, status: 500 })
    await partner.createLead()
    await until(async () => (await endpointOf(service, partner).row()).failing_since === null)
    const second = await partner.advance(lead, { to: 'next_retry' })
    expect(webhooks(second.data.happened).at(-1)).toMatchObject({ sequence: 3, attempt: 2, status: 500 })
    expect(second.data.stopped).toBeUndefined()
  })

  it('answers 409 while an endpoint hangs, and a repeat joins: the clock moves once', async () => {
    const { lead } = await funded()
    await partner.endpoint.until(() => partner.arrivals(lead).length === 2)
    const held = Promise.withResolvers<void>()
    partner.endpoint.answer = (_, response) => {
      if (partner.arrivals(lead).length < 5) response.writeHead(500).end()
      else void held.promise.then(() => response.writeHead(200).end())
    }
    const first = await partner.advanceOnce(lead, { days: 100 })
    expect([first.status, first.error?.code]).toEqual([409, 'CLOCK_MOVING'])
    const { data: clock } = await partner.clock(lead)
    expect(clock).toMatchObject({ moving: true, offset_seconds: expect.any(Number) })
    const another = await partner.advanceOnce(lead, { days: 1 })
    expect([another.status, another.error?.code]).toEqual([409, 'CLOCK_MOVING'])
    held.resolve()
    partner.endpoint.answer = (_, response) => void response.writeHead(200).end()
    const { status, data } = await partner.advance(lead, { days: 100 })
    expect([status, data.status, events(data.happened).length]).toEqual([200, 'score_update', 2])
    const days = Math.round((await partner.clock(lead)).data.offset_seconds / 86_400)
    expect(days).toBe(100)
    const arrived = partner.arrivals(lead).map((event) => event.data.sequence)
    expect(arrived.slice(0, 5)).toEqual([1, 2, 3, 3, 3])
    // the one that hung may be sent again: a busy machine may be slower than its 15 s
    expect([...new Set(arrived)]).toEqual([1, 2, 3, 4])
    expect(arrived).toEqual(arrived.toSorted((one, other) => one - other))
  }, 60_000)

  it.each([
    [{}, 'days or to must be sent, and not both'],
    [{ days: 1, to: 'end' }, 'days or to must be sent, and not both'],
    [{ days: 0 }, 'days must be at least 1'],
    [{ days: 731 }, 'days must be at most 730'],
    [{ days: 1.5 }, 'days must be an integer'],
    [{ to: 'start' }, 'to must be one of next_score_update, next_retry, end'],
  ])('refuses %j', async (to, message) => {
    const lead = await partner.createLead()
    const { status, error } = await partner.advance(lead, to)
    expect([status, error?.message]).toEqual([400, expect.stringContaining(message)])
  })

  it('goes twenty years ahead at most', async () => {
    const lead = await partner.createLead()
    for (let year = 0; year < 20; year += 2)
      expect((await partner.advance(lead, { days: 730 })).status).toBe(200)
    const { status, error } = await partner.advance(lead, { days: 730 })
    expect([status, error?.message]).toEqual([400, expect.stringContaining('at most 20 years')])
  })

  it('is nobody else’s', async () => {
    const lead = await partner.createLead()
    const other = await sandboxPartner(service, port)
    expect([(await other.advance(lead, { days: 1 })).status, (await other.clock(lead)).status]).toEqual([
      404, 404,
    ])
  })
})
