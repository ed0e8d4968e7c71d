import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { nextProbeAt } from '../../src/endpoints/endpoint-state.ts'
import { createEndpointStarter } from '../../src/endpoints/endpoint-workflows.ts'
import { oweNotice } from '../../src/endpoints/notices.ts'
import type { ReferralView } from '../../workflows/messages.ts'
import { pauseEndpoint, endpointOf, putEndpoints } from '../support/endpoint-states.ts'
import { leadsOf } from '../support/leads.ts'
import { partnerCalls, type TestPartner } from '../support/service.ts'
import { type SharedService, sharedService } from '../support/shared-service.ts'
import { until } from '../support/until.ts'

const HOUR_MS = 60 * 60 * 1000

it('is probed after 1, 2, 4, 8 and 16 hours, then once a day', () => {
  const waits: number[] = []
  for (let at = 0; waits.length < 7;) {
    const next = nextProbeAt(0, at)
    waits.push((next - at) / HOUR_MS)
    at = next
  }
  expect(waits).toEqual([1, 2, 4, 8, 16, 24, 24])
})

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
    await createEndpointStarter(service.client)((await endpoint.row()).id)
    return endpoint.workflow()
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
    const notices = service.sql.selectFrom('notices').select(['kind', 'sent_at']).orderBy('id')
    const sent = await notices.where('partner_id', '=', partner.id).execute()
    expect(sent.map(({ kind }) => kind)).toEqual(['paused', 'recovered'])
    // the lead knows, too, although the probe left it nothing to send
    const lead = service.client.workflow.getHandle(`lead-${leadId}`)
    await until(async () => {
      const { next, last } = await lead.query<ReferralView>('state')
      return next > last
    })
  })

  it('says when it is probed next, until staff pause it', async () => {
    const { post } = partnerCalls(service.port, partner.key)
    const nextProbe = async () => (await post('get-endpoint', {})).body.data.next_probe_at
    const isIn = (hours: number) =>
      until(async () => {
        const at = await nextProbe()
        return at !== null && Math.abs(Date.parse(`${at}Z`) - Date.now() - hours * HOUR_MS) < 60_000
      })
    const endpoints = service.sql.updateTable('endpoints').where('partner_id', '=', partner.id)
    await endpoints.set({ since: new Date() }).execute()
    await leads.start()
    const workflow = await start()
    await isIn(1)
    await endpoint.age('1 hour')
    await workflow.signal('probe')
    await isIn(2)
    expect(await endpoint.probes()).toHaveLength(1)
    await pauseEndpoint(service.sql, partner.id)
    expect(await nextProbe()).toBeNull()
  })

  it('is not probed once staff have paused it', async () => {
    await pauseEndpoint(service.sql, partner.id)
    const leadId = await leads.start()
    const workflow = await start()
    await workflow.signal('look')
    await workflow.signal('probe')
    // what the signals led to is over: the review of the record, and nothing after it
    await until(async () => (await workflow.describe()).raw.pendingActivities?.length === 0)
    expect([await endpoint.probes(), leads.arrivals(leadId)]).toEqual([[], []])
  })
})
