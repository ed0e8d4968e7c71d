import { beforeAll, describe, expect, it } from '@jest/globals'
import { endpointOf } from '../support/endpoint-states.ts'
import { leadsOf } from '../support/leads.ts'
import type { TestPartner } from '../support/service.ts'
import { type SharedService, sharedService } from '../support/shared-service.ts'
import { until } from '../support/until.ts'

const LEADS = 3

/** Ten days of an endpoint that fails while its leads go on. `probe.test.ts` tests the mails. */
describe('an endpoint that refuses everything', () => {
  let service: SharedService
  let partner: TestPartner
  let leads: ReturnType<typeof leadsOf>
  let endpoint: ReturnType<typeof endpointOf>
  let leadIds: number[]
  const taken: { lead: number; sequence: number }[] = []

  beforeAll(async () => {
    service = await sharedService()
    partner = await service.addPartner()
    leads = leadsOf(service, partner)
    endpoint = endpointOf(service, partner)
    partner.endpoint.answer = (_, response) => void response.writeHead(500).end()
    leadIds = await Promise.all(Array.from({ length: LEADS }, () => leads.start()))
    await partner.endpoint.until(({ length }) => length >= LEADS)
  })

  const signalAll = (name: string) =>
    Promise.all(leadIds.map((leadId) => service.referrals.signal(leadId, name)))

  it('is paused once it has accepted nothing for 72 hours', async () => {
    // the time passes for an endpoint whose failure is recorded
    await until(async () => (await endpoint.row()).failing_since !== null)
    await endpoint.age('3 days')
    await until(async () => {
      await tryNow()
      return (await endpoint.row()).state === 'paused'
    })
    expect(await endpoint.row()).toMatchObject({ reason: 'failing', paused_by: 'service' })
  })

  async function tryNow(): Promise<void> {
    await endpoint.makeDue()
    await signalAll('wake')
  }
  /** The endpoint's workflow, which starts soon after the pause. */
  const probe = async () => {
    const { workflow } = endpoint
    await until(() => workflow.describe().catch(() => undefined))
    await workflow.signal('probe')
  }

  it('is sent nothing of what is recorded meanwhile, and nothing is given up', async () => {
    const underWay = service.sql.selectFrom('deliveries').select('event_id').where('lease', 'is not', null)
    const ofIt = underWay.where('partner_id', '=', partner.id)
    await until(async () => (await ofIt.execute()).length === 0)
    const { length: before } = partner.endpoint.arrivals
    await signalAll('contract_signed')
    await signalAll('escrow_funded')
    await Promise.all(leadIds.map((leadId) => leads.recorded(leadId, 'escrow_funded')))
    await endpoint.age('10 days')
    expect(await endpoint.open()).toBe(3 * LEADS)
    expect(partner.endpoint.arrivals).toHaveLength(before)
  })

  it('gets everything in order once it takes a probe, with what happens meanwhile', async () => {
    partner.endpoint.answer = ({ event: { data } }, response) => {
      taken.push({ lead: data.lead_id, sequence: data.sequence })
      response.writeHead(200).end()
    }
    await probe()
    await signalAll('mortgage_ready')
    await endpoint.is('active')
    await until(async () => taken.length === 4 * LEADS && (await endpoint.open()) === 0)
    for (const leadId of leadIds)
      expect(taken.filter(({ lead }) => lead === leadId).map(({ sequence }) => sequence)).toEqual([
        1, 2, 3, 4,
      ])
  })
})
