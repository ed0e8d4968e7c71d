import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { createEndpointStarter } from '../../src/endpoints/endpoint-workflows.ts'
import { oweNotice } from '../../src/endpoints/notices.ts'
import type { ReferralView } from '../../workflows/messages.ts'
import { pauseEndpoint, endpointOf, putEndpoints } from '../support/endpoint-states.ts'
import { leadsOf } from '../support/leads.ts'
import { partnerCalls, type TestPartner } from '../support/service.ts'
import { type SharedService, sharedService } from '../support/shared-service.ts'
import { until } from '../support/until.ts'

const HOUR_MS = 60 * 60 * 1000

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

  /** Its workflow, at its own pace: hours become tenths of a second. */
  const start = async (firstMs: number, longestMs: number) => {
    const { id } = await endpoint.row()
    return service.client.workflow.start('endpoint', {
      workflowId: `endpoint-${id}`,
      taskQueue: 'referrals',
      args: [id, { firstMs, longestMs }],
      // the comparison may have started it
      workflowIdConflictPolicy: 'TERMINATE_EXISTING',
    })
  }

  it('is probed, each wait twice the one before up to the longest, and is resumed once it takes one', async () => {
    await service.sql.transaction().execute((trx) => oweNotice(trx, partner.id, 'paused'))
    const leadId = await leads.start()
    const workflow = await start(100, 400)
    await until(async () => (await endpoint.probes()).length >= 4)
    const times = (await endpoint.probes()).map(({ started_at }) => started_at.getTime())
    const [second, third, fourth] = times.slice(1).map((time, index) => time - times[index]!)
    expect(second).toBeGreaterThanOrEqual(200)
    for (const gap of [third, fourth]) expect(gap).toBeGreaterThanOrEqual(400)
    partner.endpoint.answer = (_, response) => void response.writeHead(200).end()
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
    await leads.start()
    await createEndpointStarter(service.client)((await endpoint.row()).id)
    await isIn(1)
    await (await endpoint.workflow()).signal('probe')
    await isIn(2)
    expect(await endpoint.probes()).toHaveLength(1)
    await pauseEndpoint(service.sql, partner.id)
    expect(await nextProbe()).toBeNull()
  })

  it('is not probed once staff have paused it', async () => {
    await pauseEndpoint(service.sql, partner.id)
    const leadId = await leads.start()
    const workflow = await start(1, 1)
    await workflow.signal('look')
    await workflow.signal('probe')
    // what the signals led to is over: the review of the record, and nothing after it
    await until(async () => (await workflow.describe()).raw.pendingActivities?.length === 0)
    expect([await endpoint.probes(), leads.arrivals(leadId)]).toEqual([[], []])
  })
})
