import { expect, it } from '@jest/globals'
import { prepareService } from '../support/service.ts'
import { until } from '../support/until.ts'
import { sandboxPartner } from './partner.ts'

const LEADS = 40

it('many clocks move at once, however few activities a worker has, and one endpoint that hangs stops no other', async () => {
  const service = await prepareService()
  const settings = { WORKER_ACTIVITIES: '4', WORKER_WORKFLOW_TASKS: '4' }
  const [{ port }] = await Promise.all([service.startApi(), service.startWorker(settings)])
  const [partner, hanging] = await Promise.all([sandboxPartner(service, port), sandboxPartner(service, port)])
  const funded = async (of: typeof partner) => {
    const lead = await of.createLead()
    await of.simulate(lead, { event_name: 'escrow_funded' })
    await of.endpoint.until(() => of.arrivals(lead).length === 2)
    return lead
  }
  const stuck = await Promise.all(Array.from({ length: 3 }, () => funded(hanging)))
  const leads = await Promise.all(Array.from({ length: LEADS }, () => funded(partner)))
  const answer = Promise.withResolvers<void>()
  hanging.endpoint.answer = (_, response) => void answer.promise.then(() => response.writeHead(200).end())
  const ofStuck = Promise.all(stuck.map((lead) => hanging.advance(lead, { days: 45 })))
  await Promise.all(leads.map((lead) => partner.advance(lead, { days: 90 })))
  await until(async () => {
    const clocks = await Promise.all(leads.map((lead) => partner.clock(lead)))
    return clocks.every(({ data }) => !data.moving)
  })
  for (const lead of leads)
    expect(partner.arrivals(lead).map(({ data }) => data.sequence)).toEqual([1, 2, 3, 4])
  answer.resolve()
  await ofStuck
}, 120_000)
