import { WorkflowUpdateFailedError } from '@temporalio/client'
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { SCORE_PERIOD_MS } from '../../src/leads/score-dates.ts'
import { loadReferralState } from '../../src/leads/referrals.ts'
import { referralId } from '../../src/temporal/names.ts'
import type { ReferralView } from '../../workflows/messages.ts'
import { leadsOf } from '../support/leads.ts'
import { type SharedService, sharedService } from '../support/shared-service.ts'
import { until } from '../support/until.ts'
import { type SandboxPartner, sandboxPartner } from './partner.ts'

const YEAR = { days: 365 }
const SEQUENCES = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]

describe('an advance in the lead’s own workflow', () => {
  let service: SharedService
  let port: number | undefined
  let partner: SandboxPartner
  let lead: number

  beforeAll(async () => {
    service = await sharedService()
    ;({ port } = service)
  }, 60_000)

  async function begin(): Promise<void> {
    partner = await sandboxPartner(service, port)
    lead = await partner.createLead()
    await partner.simulate(lead, { event_name: 'escrow_funded' })
    await partner.endpoint.until(() => partner.arrivals(lead).length === 2)
  }
  beforeEach(begin)

  const handle = () => service.client.workflow.getHandle(referralId(lead))
  const answer = (status: (arrival: number) => number | Promise<number>) => {
    partner.endpoint.answer = (_, response) =>
      void Promise.resolve(status(partner.arrivals(lead).length)).then((code) =>
        response.writeHead(code).end(),
      )
  }
  const sequences = () => partner.arrivals(lead).map((event) => event.data.sequence)
  /** As they would be if one that was held had not been sent again: a busy machine may be slower than its 15 s. */
  const sequencesOnce = (held: number) =>
    sequences().filter((sequence, index, all) => sequence !== held || all[index - 1] !== held)
  const standing = async () => (await partner.clock(lead)).data
  const stopped = () => until(async () => !(await standing()).moving)

  /** What the workflow knows is what one that starts from the record would. */
  async function expectKnown(): Promise<void> {
    const record = await loadReferralState(service.sql, lead)
    const { anchor, period, offset, next, last, endsAt, lastEventAt } =
      await handle().query<ReferralView>('state')
    expect(record).toMatchObject({ anchor, period, offset, next, last, endsAt, lastEventAt })
  }

  it('of a year stops at each date, and its own timer goes on from there', async () => {
    const { status, data } = await partner.advance(lead, YEAR)
    expect([status, data.status, data.happened.length]).toEqual([200, 'score_update', 16])
    await expectKnown()
    const next = await partner.advance(lead, { to: 'next_score_update' })
    expect(next.data.happened.map(({ sequence }) => sequence)).toEqual([11, 11])
  })

  it('goes on after a webhook that is refused, and keeps each date', async () => {
    answer((arrival) => (arrival === 4 ? 500 : 200))
    const { data } = await partner.advance(lead, YEAR)
    expect([data.status, data.stopped]).toEqual(['score_update', undefined])
    const dates = data.happened.filter(({ what }) => what === 'event').map(({ at }) => Date.parse(`${at}Z`))
    for (const [index, date] of dates.entries())
      expect(Math.abs(date - (dates[0] ?? 0) - index * SCORE_PERIOD_MS)).toBeLessThan(5000)
    const webhooks = data.happened.filter(({ what }) => what === 'webhook')
    expect(webhooks.map(({ sequence, attempt, status }) => [sequence, attempt, status])).toEqual([
      [3, 1, 200],
      [4, 1, 500],
      [4, 2, 200],
      ...[5, 6, 7, 8, 9, 10].map((sequence) => [sequence, 1, 200]),
    ])
    expect(data.happened.map(({ at }) => at)).toEqual(data.happened.map(({ at }) => at).toSorted())
    await expectKnown()
  })

  it('has room for milestones that are simulated meanwhile', async () => {
    const held = Promise.withResolvers<number>()
    answer((arrival) => (arrival === 4 ? held.promise : 200))
    const advancing = partner.advance(lead, YEAR)
    await partner.endpoint.until(() => partner.arrivals(lead).length === 4)
    const simulated = partner.simulate(lead, { event_name: 'contract_signed' })
    await leadsOf(service, partner).recorded(lead, 'contract_signed')
    held.resolve(200)
    expect([(await simulated).status, (await advancing).status]).toEqual([200, 200])
    await stopped()
    await partner.endpoint.until(() => sequencesOnce(4).length === 11)
    expect(sequencesOnce(4)).toEqual([...SEQUENCES, 11])
    await expectKnown()
  })

  it('ends with the lead, if that is closed meanwhile', async () => {
    const held = Promise.withResolvers<number>()
    answer((arrival) => (arrival === 4 ? held.promise : 200))
    const advancing = partner.advance(lead, YEAR)
    await partner.endpoint.until(() => partner.arrivals(lead).length === 4)
    await service.referrals.close(lead, 'other')
    held.resolve(200)
    const { status, data } = await advancing
    expect([status, data.happened.at(-1)?.what]).toEqual([200, 'end'])
    await stopped()
    await handle().result()
    expect(
      (await leadsOf(service, partner).names(lead)).filter((name) => name === 'score_update').length,
    ).toBeLessThan(4)
  })

  it('starts the lead’s workflow if that does not run', async () => {
    await handle().terminate()
    const { status, data } = await partner.advance(lead, YEAR)
    expect([status, data.status]).toEqual([200, 'score_update'])
    expect(sequences()).toEqual(SEQUENCES)
    await expectKnown()
  })

  it('is the only one, beside a scenario, too', async () => {
    const held = Promise.withResolvers<number>()
    answer((arrival) => (arrival === 3 ? held.promise : 200))
    const advancing = partner.advance(lead, { days: 50 })
    await partner.endpoint.until(() => partner.arrivals(lead).length === 3)
    expect((await standing()).moving).toBe(true)
    expect((await partner.advanceOnce(lead, { days: 1 })).error?.code).toBe('CLOCK_MOVING')
    const play = () =>
      partner.post('sandbox/run-scenario', { scenario: 'stalled_before_escrow', lead_id: lead })
    expect((await play()).error?.code).toBe('CLOCK_MOVING')
    held.resolve(200)
    expect((await advancing).status).toBe(200)
    await stopped()
    const again = Promise.withResolvers<number>()
    answer(() => again.promise)
    const playing = play()
    await until(async () => (await standing()).moving)
    expect((await partner.advanceOnce(lead, { days: 1 })).error?.code).toBe('CLOCK_MOVING')
    again.resolve(200)
    expect((await playing).status).toBe(200)
    await stopped()
    // 50 days of the advance, and 124 of the scenario
    expect(Math.round((await standing()).offset_seconds / 86_400)).toBe(174)
  }, 60_000)

  it('goes on when the API is killed', async () => {
    const api = await service.startApi()
    const other = await sandboxPartner({ ...service, addPartner: async () => partner }, api.port)
    const held = Promise.withResolvers<number>()
    answer((arrival) => (arrival === 3 ? held.promise : 200))
    const advancing = other.advance(lead, YEAR).catch(() => undefined)
    await partner.endpoint.until(() => partner.arrivals(lead).length === 3)
    await api.stop()
    held.resolve(200)
    await advancing
    await partner.endpoint.until(() => sequencesOnce(3).length === 10)
    await stopped()
    expect(sequencesOnce(3)).toEqual(SEQUENCES)
    await expectKnown()
  })

  it('knows the lead no more, if that is erased', async () => {
    const held = Promise.withResolvers<number>()
    answer((arrival) => (arrival === 3 ? held.promise : 200))
    const advancing = partner.advance(lead, { days: 50 })
    await partner.endpoint.until(() => partner.arrivals(lead).length === 3)
    const erased = await partner.post('erase-lead', { lead_id: lead, reason: 'borrower_request' })
    held.resolve(200)
    expect([erased.status, (await advancing).status]).toEqual([200, 404])
  })

  it('in a sandbox only, and of nothing but an advance', async () => {
    for (const request of [undefined, { target: 'soon' }, { target: Date.now(), since: 1 }])
      await expect(handle().executeUpdate('advance_clock', { args: [request] })).rejects.toThrow(
        WorkflowUpdateFailedError,
      )
    expect((await standing()).offset_seconds).toBe(0)
  })
})
