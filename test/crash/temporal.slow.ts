import { beforeAll, describe, expect, it } from '@jest/globals'
import { leadsOf } from '../support/leads.ts'
import { ownTemporal } from '../support/own-temporal.ts'
import { partnerCalls, prepareService, type Service, type TestPartner } from '../support/service.ts'

describe('while Temporal is away', () => {
  let temporal: Awaited<ReturnType<typeof ownTemporal>>
  let service: Service
  let partner: TestPartner
  let calls: ReturnType<typeof partnerCalls>
  let leads: ReturnType<typeof leadsOf>
  const created: number[] = []

  beforeAll(async () => {
    temporal = await ownTemporal()
    service = await prepareService({ TEMPORAL_ADDRESS: temporal.address })
    partner = await service.addPartner()
    leads = leadsOf(service, partner)
    const [api] = await Promise.all([service.startApi(), service.startWorker()])
    calls = partnerCalls(api.port, partner.key)
    created.push(await calls.createLead())
    await partner.endpoint.until((arrivals) => arrivals.length === 1)
    await service.referrals.signal(created[0] ?? 0, 'escrow_funded')
    await partner.endpoint.until((arrivals) => arrivals.length === 2)
    await temporal.kill()
  }, 60_000)

  it('create-lead and all reads answer 200', async () => {
    for (let count = 0; count < 20; count += 1)
      created.push(await calls.createLead({ partner_lead_id: `L${count}` }))
    for (const leadId of created) {
      expect(await calls.post('get-lead', { lead_id: leadId })).toMatchObject({ status: 200 })
      expect(await calls.post('get-events', { lead_id: leadId })).toMatchObject({ status: 200 })
      expect(await calls.post('update-partner-info', { lead_id: leadId, a: 'b' })).toMatchObject({
        status: 200,
      })
    }
  })

  it('a resend of a settled webhook is accepted', async () => {
    const event_id = leads.arrivals(created[0] ?? 0)[0]?.id
    expect(await calls.post('resend-webhook', { event_id })).toMatchObject({
      status: 200,
      body: { message: 'The webhook will be sent again.' },
    })
  })

  it('nothing is lost: the workflows are there after its return, and nothing needs a restart', async () => {
    await temporal.start()
    // a webhook of each, another of the first, and its resend
    await partner.endpoint.until((arrivals) => arrivals.length === created.length + 2)
    await service.referrals.signal(created[0] ?? 0, 'contract_signed')
    await partner.endpoint.until(() => leads.arrivals(created[0] ?? 0).length === 4)
    for (const leadId of created) {
      const ids = leads.arrivals(leadId).map(({ event }) => event.data.sequence)
      expect(ids).toEqual(leadId === created[0] ? [1, 2, 1, 3] : [1])
    }
  }, 60_000)
})
