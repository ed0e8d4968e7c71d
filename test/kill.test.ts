import { beforeAll, describe, expect, it } from '@jest/globals'
import { hasCompared } from './support/compared.ts'
import { leadsOf } from './support/leads.ts'
import { partnerCalls, prepareService, type Service, type TestPartner } from './support/service.ts'
import { until } from './support/until.ts'

/** What is acknowledged or under way when its process is killed goes on with the next one. Chaos kills in all other places. */
describe('a process that is killed', () => {
  let service: Service
  let partner: TestPartner
  let leads: ReturnType<typeof leadsOf>

  beforeAll(async () => {
    service = await prepareService()
    partner = await service.addPartner()
    leads = leadsOf(service, partner)
  })

  const deliveriesOf = (leadId: number) =>
    service.sql
      .selectFrom('deliveries')
      .select(['sequence', 'state'])
      .where('lead_id', '=', leadId)
      .orderBy('sequence')
      .execute()

  it('as an API, after its answer and before the start of the workflow, leaves a lead that the sweep starts once', async () => {
    const worker = await service.startWorkerProcess()
    // what else would start it is done when a worker starts, and minutes later
    await hasCompared(service)
    // nothing listens there: what the API has acknowledged it cannot start
    const api = await service.startApiProcess({ TEMPORAL_ADDRESS: '127.0.0.1:1' })
    const leadId = await partnerCalls(api.port, partner.key).createLead()
    await api.kill()
    await partner.endpoint.until(({ length }) => length === 1)
    const { status } = await service.client.workflow.getHandle(`lead-${leadId}`).describe()
    expect(status.name).toBe('RUNNING')
    await until(async () => (await deliveriesOf(leadId))[0]?.state === 'delivered')
    expect(await leads.names(leadId)).toEqual(['lead_received'])
    expect(leads.arrivals(leadId)).toHaveLength(1)
    await worker.kill()
  }, 120_000)

  it('as a worker, in the middle of an attempt, leaves a webhook that another one sends again, before the next', async () => {
    const killed = await service.startWorkerProcess()
    partner.endpoint.answer = ({ event }, response) => {
      if (event.data.sequence === 1) response.writeHead(200).end()
    }
    const leadId = await leads.start()
    await service.referrals.signal(leadId, 'contract_signed')
    await service.referrals.signal(leadId, 'escrow_funded')
    await leads.recorded(leadId, 'escrow_funded')
    await partner.endpoint.until(() => leads.arrivals(leadId).length === 2)
    await killed.kill()
    partner.endpoint.answer = (_, response) => void response.writeHead(200).end()
    await service.startWorkerProcess()
    await partner.endpoint.until(() => leads.arrivals(leadId).length === 4)
    const [, cutOff, again] = leads.arrivals(leadId)
    expect(leads.arrivals(leadId).map(({ event }) => event.data.sequence)).toEqual([1, 2, 2, 3])
    expect([again?.id, again?.body]).toEqual([cutOff?.id, cutOff?.body])
    expect(leads.arrivals(leadId).every(({ verified }) => verified)).toBe(true)
    await until(async () => (await deliveriesOf(leadId)).every(({ state }) => state === 'delivered'))
    expect(await leads.names(leadId)).toEqual(['lead_received', 'contract_signed', 'escrow_funded'])
  }, 120_000)
})
