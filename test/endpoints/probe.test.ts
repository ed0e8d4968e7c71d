import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { createEndpointStarter } from '../../src/endpoints/endpoint-workflows.ts'
import { oweNotice } from '../../src/endpoints/notices.ts'
import type { ReferralView } from '../../workflows/messages.ts'
import { pauseEndpoint, endpointOf, putEndpoints } from '../support/endpoint-states.ts'
import { compareNow } from '../support/compared.ts'
import { leadsOf } from '../support/leads.ts'
import type { TestPartner } from '../support/service.ts'
import { type SharedService, sharedService } from '../support/shared-service.ts'
import { until } from '../support/until.ts'

describe('an endpoint that the service paused', () => {
  let service: SharedService
  let partner: TestPartner
  let endpoint: ReturnType<typeof endpointOf>
  let leads: ReturnType<typeof leadsOf>

  beforeAll(async () => {
    service = await sharedService()
  }, 60_000)

  beforeEach(async () => {
    partner = await service.addPartner()
    endpoint = endpointOf(service, partner)
    leads = leadsOf(service, partner)
    partner.endpoint.answer = (_, response) => void response.writeHead(410).end()
    await putEndpoints(service.sql, 'paused', { partnerId: partner.id, by: 'service' })
  })

  const start = async () => {
    await createEndpointStarter(service.client)(partner.id)
    return endpoint.workflow
  }

  it('is probed when somebody asks, and is resumed once it takes a probe', async () => {
    await service.sql.transaction().execute((trx) => oweNotice(trx, partner.id, 'paused'))
    const leadId = await leads.start()
    const workflow = await start()
    await workflow.signal('probe')
    await until(async () => (await endpoint.probes()).length === 1)
    expect(await endpoint.probes()).toMatchObject([{ status: 410 }])
    expect((await endpoint.row()).state).toBe('paused')
    partner.endpoint.answer = (_, response) => void response.writeHead(200).end()
    await workflow.signal('probe')
    await endpoint.is('active')
    await workflow.result()
    expect(await endpoint.open()).toBe(0)
    const notices = service.sql.selectFrom('notices').select('kind').where('recipient', '=', 'partner')
    const owed = await notices.where('partner_id', '=', partner.id).orderBy('id').execute()
    expect(owed.map(({ kind }) => kind)).toEqual(['paused', 'recovered'])
    // the lead's workflow knows it, too, although the probe left it nothing to send
    const lead = service.client.workflow.getHandle(`lead-${leadId}`)
    await until(async () => {
      const { next, last } = await lead.query<ReferralView>('state')
      return next > last
    })
  })

  it('is not probed once staff have paused it', async () => {
    await pauseEndpoint(service.sql, partner.id)
    const leadId = await leads.start()
    await (await start()).result()
    expect([await endpoint.probes(), leads.arrivals(leadId)]).toEqual([[], []])
  })

  it('is probed when the time has come, although Temporal lost its workflow', async () => {
    await leads.start()
    const due = service.sql.updateTable('endpoints').where('partner_id', '=', partner.id)
    await due.set({ next_probe_at: new Date(0) }).execute()
    await compareNow(service)
    await until(async () => (await endpoint.probes()).length === 1)
    expect(Number((await endpoint.row()).next_probe_at)).toBeGreaterThan(Date.now())
  })
})
