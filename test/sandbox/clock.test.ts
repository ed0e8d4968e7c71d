import { WorkflowUpdateFailedError } from '@temporalio/client'
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { SCORE_PERIOD_DAYS, SCORE_PERIOD_MS } from '../../src/leads/score-dates.ts'
import { loadReferralState } from '../../src/leads/referrals.ts'
import { RETRY_DELAYS_MS } from '../../src/deliveries/retry-schedule.ts'
import { referralId } from '../../src/temporal/names.ts'
import { DAY_MS } from '../../src/values.ts'
import type { ReferralView } from '../../workflows/messages.ts'
import { putClockAhead } from '../support/clock.ts'
import { leadsOf } from '../support/leads.ts'
import { type SharedService, sharedService } from '../support/shared-service.ts'
import { until } from '../support/until.ts'
import { type SandboxPartner, sandboxPartner } from './partner.ts'

const ms = (timestamp: string) => Date.parse(`${timestamp.replace(' ', 'T')}Z`)

describe('a lead’s clock', () => {
  let service: SharedService
  let partner: SandboxPartner

  beforeAll(async () => {
    service = await sharedService()
  }, 60_000)
  beforeEach(async () => {
    partner = await sandboxPartner(service, service.port)
  })

  async function funded(): Promise<{ lead: number; anchor: number }> {
    const lead = await partner.createLead()
    const { data } = await partner.simulate(lead, { event_name: 'escrow_funded' })
    await partner.endpoint.until(() => partner.arrivals(lead).length === 2)
    return { lead, anchor: ms(data.events[0]?.created_at ?? '') }
  }

  const handle = (lead: number) => service.client.workflow.getHandle(referralId(lead))
  const names = (lead: number) => leadsOf(service, partner).names(lead)
  const sequences = (lead: number) => partner.arrivals(lead).map((event) => event.data.sequence)
  const daysAhead = async (lead: number) =>
    Math.round((await partner.clock(lead)).data.offset_seconds / 86_400)
  /** What the endpoint answers to each arrival of the lead's, counted from 1. */
  const answer = (lead: number, status: (arrival: number) => number | Promise<number>) => {
    partner.endpoint.answer = (_, response) =>
      void Promise.resolve(status(partner.arrivals(lead).length)).then((code) =>
        response.writeHead(code).end(),
      )
  }
  const attempts = async (lead: number) =>
    (
      await service.sql
        .selectFrom('attempts')
        .innerJoin('deliveries', 'deliveries.event_id', 'attempts.event_id')
        .select(['sequence', 'number', 'status'])
        .where('lead_id', '=', lead)
        .orderBy('started_at')
        .execute()
    ).map(({ sequence, number, status }) => [sequence, number, status])

  /** What the workflow knows is what one that starts from the record would. */
  async function expectKnown(lead: number): Promise<void> {
    const record = await loadReferralState(service.sql, lead)
    const { anchor, period, offset, next, last, endsAt, lastEventAt } =
      await handle(lead).query<ReferralView>('state')
    expect(record).toMatchObject({ anchor, period, offset, next, last, endsAt, lastEventAt })
  }

  it('brings the score updates of eight periods on their dates, past a webhook that is refused once, and its timer goes on', async () => {
    const { lead, anchor } = await funded()
    answer(lead, (arrival) => (arrival === 4 ? 500 : 200))
    const days = 8 * SCORE_PERIOD_DAYS + 5
    const { status, data } = await partner.advance(lead, { days })
    expect([status, data.status, data.stopped]).toEqual([200, 'score_update', undefined])
    expect(ms(data.now) - anchor).toBeGreaterThanOrEqual(days * DAY_MS)
    expect(data.next).toEqual({ what: 'score_update', at: expect.any(String) })
    const happened = (kind: string) => data.happened.filter(({ what }) => what === kind)
    expect(happened('webhook').map((made) => [made.sequence, made.attempt, made.status])).toEqual([
      [3, 1, 200],
      [4, 1, 500],
      [4, 2, 200],
      ...[5, 6, 7, 8, 9, 10].map((sequence) => [sequence, 1, 200]),
    ])
    expect(data.happened.map(({ at }) => at)).toEqual(data.happened.map(({ at }) => at).toSorted())
    for (const [index, date] of happened('event')
      .map(({ at }) => ms(at) - anchor)
      .entries())
      expect(Math.abs(date - (index + 1) * SCORE_PERIOD_MS)).toBeLessThan(5000)
    await expectKnown(lead)
    await partner.advance(lead, { to: 'next_score_update' })
    expect(sequences(lead).at(-1)).toBe(11)
  })

  it('goes on after the lead’s end, which keeps its date, and then no more; other leads’ clocks stand still', async () => {
    const [{ lead, anchor }, other] = [await funded(), await funded()]
    await partner.simulate(lead, { event_name: 'mortgage_ready' })
    const advanced = await partner.advance(lead, { days: 365 })
    expect(ms(advanced.data.now) - anchor).toBeGreaterThanOrEqual(365 * DAY_MS)
    expect(advanced.data).toMatchObject({ status: 'mortgage_ready', next: null })
    const { closing } = (await partner.post('get-lead', { lead_id: lead })) as object as {
      closing: { at: string }
    }
    expect(Math.abs(ms(closing.at) - anchor - 30 * DAY_MS)).toBeLessThan(5000)
    const closed = await partner.advance(lead, { days: 1 })
    expect([closed.status, closed.error]).toMatchObject([409, { code: 'LEAD_CLOSED', lead_id: lead }])
    expect((await partner.clock(other.lead)).data).toMatchObject({
      offset_seconds: 0,
      next: expect.anything(),
    })
  })

  it('has nothing to advance to before there is a date', async () => {
    const lead = await partner.createLead()
    for (const to of ['next_score_update', 'next_retry', 'end']) {
      const { status, data } = await partner.advance(lead, { to })
      expect([status, data.next]).toEqual([200, null])
    }
    expect((await partner.clock(lead)).data).toMatchObject({ offset_seconds: 0, moving: false })
  })

  it('retries by production’s schedule, and goes on in order once the endpoint works', async () => {
    const lead = await partner.createLead()
    await partner.endpoint.until(() => partner.arrivals(lead).length === 1)
    answer(lead, () => 500)
    const events = [{ event_name: 'contract_signed' }, { event_name: 'escrow_funded' }]
    await partner.simulate(lead, { events })
    let { now: before } = (await partner.advance(lead, { to: 'next_retry' })).data
    for (const planned of RETRY_DELAYS_MS.slice(2, 5)) {
      const { data } = await partner.advance(lead, { to: 'next_retry' })
      const waited = ms(data.now) - ms(before)
      expect(waited).toBeGreaterThanOrEqual(planned - 2000)
      expect(waited).toBeLessThanOrEqual(planned * 1.2 + 5000)
      before = data.now
    }
    const { data } = await partner.clock(lead)
    const deliveries = (await partner.post('get-deliveries', { lead_id: lead })).data as object as {
      next_attempt_at: string | null
    }[]
    expect(data.next).toEqual({ what: 'retry', at: expect.any(String) })
    expect(deliveries.map(({ next_attempt_at: at }) => at)).toContain(data.next?.at)
    answer(lead, () => 200)
    const works = await partner.advance(lead, { to: 'next_retry' })
    expect((await attempts(lead)).slice(1)).toEqual([
      ...[1, 2, 3, 4, 5].map((number) => [2, number, 500]),
      [2, 6, 200],
      [3, 1, 200],
    ])
    expect(works.data.next?.what).toBe('score_update')
  })

  it('stops where production would pause the endpoint, and goes on when that works', async () => {
    const { lead } = await funded()
    answer(lead, () => 500)
    await partner.simulate(lead, { event_name: 'contract_signed' })
    const { data } = await partner.advance(lead, { days: 60 })
    expect([data.stopped, data.status]).toEqual(['endpoint_would_pause', 'escrow_funded'])
    expect((await attempts(lead)).at(-1)).toEqual([3, 10, 500])
    answer(lead, () => 200)
    const works = await partner.advance(lead, { days: 60 })
    expect([works.data.stopped, works.data.status]).toEqual([undefined, 'score_update'])
  })

  it('is moved once at a time: a repeat joins, others are refused, and milestones have room', async () => {
    const { lead } = await funded()
    const days = 2 * SCORE_PERIOD_DAYS + 10
    const held = Promise.withResolvers<number>()
    answer(lead, (arrival) => (arrival === 4 ? held.promise : 200))
    const first = partner.advanceOnce(lead, { days })
    await partner.endpoint.until(() => partner.arrivals(lead).length === 4)
    const playing = { scenario: 'dropped_out', lead_id: lead }
    for (const other of [
      await partner.advanceOnce(lead, { days: 1 }),
      await partner.post('sandbox/run-scenario', playing),
    ])
      expect([other.status, other.error?.code]).toEqual([409, 'CLOCK_MOVING'])
    expect((await partner.clock(lead)).data.moving).toBe(true)
    const simulated = partner.simulate(lead, { event_name: 'contract_signed' })
    await leadsOf(service, partner).recorded(lead, 'contract_signed')
    const { status, error } = await first
    expect([status, error?.code]).toEqual([409, 'CLOCK_MOVING'])
    held.resolve(200)
    const repeated = await partner.advance(lead, { days })
    expect([repeated.status, (await simulated).status, await daysAhead(lead)]).toEqual([200, 200, days])
    expect((await names(lead)).filter((name) => name === 'score_update')).toHaveLength(2)
    await partner.endpoint.until(() => sequences(lead).at(-1) === 5)
    // the one that hung may be sent again: a busy machine may be slower than its 15 s
    expect([...new Set(sequences(lead))]).toEqual([1, 2, 3, 4, 5])
    await expectKnown(lead)
  }, 60_000)

  it('gives way when the record is to be read, and a repeat moves it on', async () => {
    const { lead } = await funded()
    const held = Promise.withResolvers<number>()
    answer(lead, (arrival) => [200, 200, 200, 500, held.promise][arrival] ?? 200)
    const first = partner.advanceOnce(lead, { days: 100 })
    await partner.endpoint.until(() => partner.arrivals(lead).length === 4)
    await service.referrals.signal(lead, 'read_record')
    held.resolve(500)
    expect((await first).status).toBe(503)
    expect((await partner.advance(lead, { to: 'next_score_update' })).status).toBe(200)
    await expectKnown(lead)
  })

  it('ends with a lead that is closed meanwhile, and is unknown once it is erased', async () => {
    const closed = await funded()
    const erased = await funded()
    const held = Promise.withResolvers<void>()
    partner.endpoint.answer = (_, response) => void held.promise.then(() => response.writeHead(200).end())
    const advancing = [closed, erased].map(({ lead }) => partner.advance(lead, { days: 100 }))
    await partner.endpoint.until(({ length }) => length === 6)
    await service.referrals.close(closed.lead, 'other')
    await partner.post('erase-lead', { lead_id: erased.lead, reason: 'borrower_request' })
    held.resolve()
    expect((await Promise.all(advancing)).map(({ status }) => status)).toEqual([200, 404])
    await until(async () => !(await partner.clock(closed.lead)).data.moving)
    expect((await names(closed.lead)).filter((name) => name === 'score_update')).toHaveLength(1)
  })

  it('goes twenty years ahead at most', async () => {
    const lead = await partner.createLead()
    await putClockAhead(service.sql, lead, 19 * 365 * 86_400)
    await service.referrals.signal(lead, 'read_record')
    await until(async () => (await handle(lead).query<ReferralView>('state')).offset > 0)
    const { status, data } = await partner.advance(lead, { days: 730 })
    expect([status, data.stopped, await daysAhead(lead)]).toEqual([200, 'twenty_years_ahead', 19 * 365])
  })

  it('is moved by its workflow as far as one request may ask for', async () => {
    const lead = await leadsOf(service, partner).start()
    for (const request of [undefined, { to: 'soon' }, { days: 1e6 }])
      await expect(handle(lead).executeUpdate('advance_clock', { args: [request] })).rejects.toThrow(
        WorkflowUpdateFailedError,
      )
    expect(await daysAhead(lead)).toBe(0)
  })
})
