import { beforeAll, describe, expect, it } from '@jest/globals'
import { SCORE_PERIOD_DAYS } from '../src/leads/score-dates.ts'
import { putClockAhead } from './support/clock.ts'
import { partnerCalls, type TestPartner } from './support/service.ts'
import { type SharedService, sharedService } from './support/shared-service.ts'
import { until } from './support/until.ts'

const DAY = 24 * 60 * 60

describe('a borrower’s journey from create-lead to mortgage_ready', () => {
  let service: SharedService
  let partner: TestPartner
  let calls: ReturnType<typeof partnerCalls>
  let leadId: number

  beforeAll(async () => {
    service = await sharedService()
    partner = await service.addPartner()
    calls = partnerCalls(service.port, partner.key)
  })

  const named = (name: string) => partner.endpoint.arrivals.filter(({ event }) => event.type === name)
  const arrived = (name: string, count = 1) => partner.endpoint.until(() => named(name).length >= count)
  const history = async () => (await calls.post('get-events', { lead_id: leadId })).body.data

  it('tells the partner’s endpoint of a created lead', async () => {
    leadId = await calls.createLead({ partner_lead_id: 'LOAN-1' })
    await arrived('lead_received')
    expect(named('lead_received')[0]?.event.data).toMatchObject({
      lead_id: leadId,
      partner_lead_id: 'LOAN-1',
      event_payload: { partner_lead_id: 'LOAN-1' },
      sequence: 1,
      environment: 'sandbox',
    })
  })

  it('records each milestone signal and tells of it', async () => {
    for (const name of [
      'client_account_created',
      'credit_scan_completed',
      'contract_signed',
      'escrow_funded',
    ]) {
      await service.referrals.signal(leadId, name)
      await arrived(name)
      const lead = await calls.post('get-lead', { lead_id: leadId })
      expect(lead.body.data.status).toBe(name)
    }
  })

  it('records client_engaged_in_chat without telling anybody', async () => {
    await service.referrals.signal(leadId, 'client_engaged_in_chat')
    await until(async () => (await history()).some((event) => event.event_name === 'client_engaged_in_chat'))
    await service.referrals.signal(leadId, 'score_update', {
      event_payload: {
        experian_gain: 12,
        equifax_gain: -3,
        transunion_gain: 0,
        estimated_time_remaining: '60-90 days',
      },
    })
    await arrived('score_update')
    expect(named('client_engaged_in_chat')).toEqual([])
    expect(named('score_update')[0]?.event.data.event_payload).toEqual({
      experian_gain: 12,
      equifax_gain: -3,
      transunion_gain: 0,
      estimated_time_remaining: '60-90 days',
    })
  })

  it('raises a score_update a period after escrow_funded', async () => {
    await putClockAhead(service.sql, leadId, SCORE_PERIOD_DAYS * DAY)
    await service.referrals.signal(leadId, 'read_record')
    await arrived('score_update', 2)
    expect(named('score_update')[1]?.event.data.event_payload).toEqual({
      experian_gain: expect.any(Number),
      equifax_gain: expect.any(Number),
      transunion_gain: expect.any(Number),
      estimated_time_remaining: expect.stringMatching(/^\d+-\d+ days$/),
    })
  })

  it('ends with mortgage_ready', async () => {
    await service.referrals.signal(leadId, 'mortgage_ready')
    await arrived('mortgage_ready')
    const lead = await calls.post('get-lead', { lead_id: leadId })
    expect(lead.body.data.status).toBe('mortgage_ready')
    await putClockAhead(service.sql, leadId, 30 * DAY)
    await service.referrals.signal(leadId, 'read_record')
    const handle = service.client.workflow.getHandle(`lead-${leadId}`)
    await expect(handle.result()).resolves.toBe('mortgage_ready')
  })

  it('has delivered every webhook once, in order, signed', async () => {
    const { arrivals } = partner.endpoint
    expect(arrivals.map(({ event }) => event.data.sequence)).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
    expect(arrivals.every(({ verified }) => verified)).toBe(true)
    const names = (await history()).map((event) => event.event_name)
    expect(names).toEqual([
      'lead_received',
      'client_account_created',
      'credit_scan_completed',
      'contract_signed',
      'escrow_funded',
      'client_engaged_in_chat',
      'score_update',
      'score_update',
      'mortgage_ready',
    ])
  })
})
