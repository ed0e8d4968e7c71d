import { beforeAll, describe, expect, it } from '@jest/globals'
import type { ReferralView } from '../../workflows/messages.ts'
import { createEndpointStarter } from '../../src/endpoints/endpoint-workflows.ts'
import { oweNotice } from '../../src/endpoints/notices.ts'
import { pauseEndpoint, endpointOf, putEndpoints } from '../support/endpoint-states.ts'
import { leadsOf } from '../support/leads.ts'
import { startMailServer } from '../support/mail-server.ts'
import { partnerCalls, prepareService, type Service, type TestPartner } from '../support/service.ts'
import { until } from '../support/until.ts'

const HOUR_MS = 60 * 60 * 1000

describe('a paused endpoint', () => {
  let service: Service
  let partner: TestPartner
  let endpoint: ReturnType<typeof endpointOf>
  let leads: ReturnType<typeof leadsOf>
  let first: number
  let mailServer: Awaited<ReturnType<typeof startMailServer>>

  beforeAll(async () => {
    mailServer = await startMailServer()
    const settings = { SMTP_URL: mailServer.url, SMTP_CATCHER: 'true', STAFF_EMAIL: 'staff@example.com' }
    service = await prepareService(settings)
    partner = await service.addPartner()
    endpoint = endpointOf(service, partner)
    leads = leadsOf(service, partner)
    partner.endpoint.answer = (_, response) => void response.writeHead(410).end()
    first = await leads.start()
    await putEndpoints(service.sql, 'paused', { by: 'service' })
    await service.startWorker()
  }, 60_000)

  it('is probed when somebody asks, and an endpoint that refuses stays paused', async () => {
    await createEndpointStarter(service.client)((await endpoint.row()).id)
    await (await endpoint.workflow()).signal('probe')
    await until(async () => (await endpoint.probes()).length === 1)
    expect(await endpoint.probes()).toMatchObject([{ status: 410 }])
    expect((await endpoint.row()).state).toBe('paused')
  })

  it('is resumed by itself once a probe is taken', async () => {
    partner.endpoint.answer = (_, response) => void response.writeHead(200).end()
    await (await endpoint.workflow()).signal('probe')
    await endpoint.is('active')
    expect(await endpoint.open()).toBe(0)
    await (await endpoint.workflow()).result()
    const mails = mailServer.mails.filter(({ to }) => to === 'staff@example.com')
    const subjects = mails.map(({ content }) => /^Subject: Webhook endpoint ([^:]*)/m.exec(content)?.[1])
    expect(subjects).toEqual(['is paused', 'works again'])
    // the lead knows, too, although the probe left it nothing to send
    const lead = service.client.workflow.getHandle(`lead-${first}`)
    await until(async () => {
      const { next, last } = await lead.query<ReferralView>('state')
      return next > last
    })
  })

  it('says when it is probed next, until staff pause it', async () => {
    const other = await service.addPartner()
    const own = endpointOf(service, other)
    const { port } = await service.startApi()
    const nextProbe = async () =>
      (await partnerCalls(port, other.key).post('get-endpoint', {})).body.data.next_probe_at
    const isIn = (hours: number) =>
      until(async () => {
        const at = await nextProbe()
        return at !== null && Math.abs(Date.parse(`${at}Z`) - Date.now() - hours * HOUR_MS) < 60_000
      })
    expect(await nextProbe()).toBeNull()
    other.endpoint.answer = (_, response) => void response.writeHead(410).end()
    await putEndpoints(service.sql, 'paused', { partnerId: other.id, by: 'service' })
    const endpoints = service.sql.updateTable('endpoints').where('partner_id', '=', other.id)
    await endpoints.set({ since: new Date() }).execute()
    await leadsOf(service, other).start()
    await createEndpointStarter(service.client)((await own.row()).id)
    await isIn(1)
    await own.age('1 hour')
    await (await own.workflow()).signal('probe')
    await isIn(2)
    expect(await own.probes()).toHaveLength(1)
    await pauseEndpoint(service.sql, other.id)
    expect(await nextProbe()).toBeNull()
  })

  it('is probed, and told of to staff once, while its partner’s address is refused', async () => {
    const contact = 'refused@example.com'
    mailServer.refusing = [contact]
    const other = await service.addPartner()
    const partners = service.sql.updateTable('partners').where('id', '=', other.id)
    await partners.set({ contact_email: contact, name: 'Refused Lender' }).execute()
    const own = endpointOf(service, other)
    await service.sql.transaction().execute((trx) => oweNotice(trx, other.id, 'failing'))
    const look = async () => createEndpointStarter(service.client)((await own.row()).id)
    await look()
    const mails = () =>
      mailServer.mails
        .filter(({ content }) => content.includes('is failing: Refused Lender'))
        .map(({ to }) => to)
    const refusals = () => mailServer.refused.filter((address) => address === contact)
    await until(async () => refusals().length > 0)
    // by a 410, which tells nobody
    await putEndpoints(service.sql, 'paused', { partnerId: other.id, by: 'service' })
    await look()
    await until(async () => (await own.row()).next_probe_at)
    // a second try
    await until(async () => refusals().length > 1)
    expect(mails()).toEqual(['staff@example.com'])
  })

  it('is told of while another email is being sent, once that is', async () => {
    const taken = Promise.withResolvers<void>()
    mailServer.answering = taken.promise
    const other = await service.addPartner()
    const partners = service.sql.updateTable('partners').where('id', '=', other.id)
    await partners.set({ contact_email: 'busy@example.com' }).execute()
    const own = endpointOf(service, other)
    const subjects = () =>
      mailServer.mails
        .filter(({ to }) => to === 'busy@example.com')
        .map(({ content }) => /^Subject: Webhook endpoint (is \w+)/m.exec(content)?.[1])
    await service.sql.transaction().execute((trx) => oweNotice(trx, other.id, 'failing'))
    await createEndpointStarter(service.client)((await own.row()).id)
    await until(async () => subjects().length === 1)
    await pauseEndpoint(service.sql, other.id)
    await createEndpointStarter(service.client)((await own.row()).id)
    // it has looked
    const { sql } = service
    const owed = () => sql.selectFrom('notices').select('kind').where('partner_id', '=', other.id).execute()
    await until(async () => (await owed()).length === 2)
    taken.resolve()
    await until(async () => subjects().length === 2)
    expect(subjects()).toEqual(['is failing', 'is paused'])
  })

  it('is not probed when staff paused it', async () => {
    await pauseEndpoint(service.sql, partner.id)
    const before = await endpoint.probes()
    const leadId = await leads.start()
    const { id } = await endpoint.row()
    const handle = await service.client.workflow.start('endpoint', {
      workflowId: `endpoint-${id}`,
      taskQueue: 'referrals',
      args: [id],
      workflowIdConflictPolicy: 'TERMINATE_EXISTING',
    })
    await handle.signal('look')
    await handle.signal('probe')
    // what the signals led to is over: the review of the record, and nothing after it
    await until(async () => (await handle.describe()).raw.pendingActivities?.length === 0)
    expect(await endpoint.probes()).toEqual(before)
    expect(leads.arrivals(leadId)).toEqual([])
  })
})
