import { expect, it } from '@jest/globals'
import { hasCompared } from './support/compared.ts'
import { leadsOf } from './support/leads.ts'
import { partnerCalls, prepareService } from './support/service.ts'
import { until } from './support/until.ts'

/** Chaos kills in all other places. */
it('what is acknowledged or under way when its process is killed goes on with the next one', async () => {
  const service = await prepareService()
  const partner = await service.addPartner()
  const leads = leadsOf(service, partner)
  partner.endpoint.answer = ({ event }, response) => {
    if (event.data.sequence === 1) response.writeHead(200).end()
  }
  const worker = await service.startWorkerProcess()
  // what else would start the workflow is done when a worker starts, and minutes later
  await hasCompared(service)

  // an API after its answer and before the start of the workflow: nothing listens where it looks for Temporal
  const api = await service.startApiProcess({ TEMPORAL_ADDRESS: '127.0.0.1:1' })
  const leadId = await partnerCalls(api.port, partner.key).createLead()
  await api.kill()
  await partner.endpoint.until(({ length }) => length === 1)
  const { status } = await service.client.workflow.getHandle(`lead-${leadId}`).describe()
  expect(status.name).toBe('RUNNING')

  // a worker in the middle of an attempt
  await service.referrals.signal(leadId, 'contract_signed')
  await service.referrals.signal(leadId, 'escrow_funded')
  await leads.recorded(leadId, 'escrow_funded')
  await partner.endpoint.until(() => leads.arrivals(leadId).length === 2)
  await worker.kill()
  partner.endpoint.answer = (_, response) => void response.writeHead(200).end()
  await service.startWorker()
  await partner.endpoint.until(() => leads.arrivals(leadId).length === 4)
  const [, cutOff, again] = leads.arrivals(leadId)
  expect(leads.arrivals(leadId).map(({ event }) => event.data.sequence)).toEqual([1, 2, 2, 3])
  expect([again?.id, again?.body]).toEqual([cutOff?.id, cutOff?.body])
  expect(leads.arrivals(leadId).every(({ verified }) => verified)).toBe(true)
  const states = service.sql.selectFrom('deliveries').select('state').where('lead_id', '=', leadId)
  await until(async () => (await states.execute()).every(({ state }) => state === 'delivered'))
  expect(await leads.names(leadId)).toEqual(['lead_received', 'contract_signed', 'escrow_funded'])
}, 240_000)
