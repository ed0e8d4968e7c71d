import { beforeAll, describe, expect, it } from '@jest/globals'
import { raiseGeneration } from '../../src/core/record/statements/generation.ts'
import { lossesOf, listRestores } from '../../src/capabilities/restore/statements/restores.ts'
import { leadsOf } from '../support/leads.ts'
import { startMailServer } from '../support/mail-server.ts'
import { ownPostgres } from '../support/own-postgres.ts'
import { partnerCalls, prepareService, type Service, type TestPartner } from '../support/service.ts'
import { until } from '../support/until.ts'

const NOTHING_LOST = ['lead_received', 'client_account_created']
const LOST = ['contract_signed', 'client_engaged_in_chat', 'escrow_funded'] as const

describe('a record that comes back with less than it had', () => {
  let postgres: Awaited<ReturnType<typeof ownPostgres>>
  let service: Service
  let partner: TestPartner
  let leads: ReturnType<typeof leadsOf>
  let calls: ReturnType<typeof partnerCalls>
  let mails: Awaited<ReturnType<typeof startMailServer>>
  let survivor: number
  let lost: number
  let lostCursor: string
  let generation: number

  const listEvents = async (after?: string) => {
    const { status, body } = await calls.post('list-events', { ...(after && { after }), limit: 100 })
    return { status, ...(body as unknown as Page) }
  }
  interface Page {
    next: string
    data: { event_id: string; event_name: string; lead_id: number }[]
    error: { message: string; next: string }
  }
  const allDelivered = (count: number) =>
    until(async () => {
      const delivered = service.sql
        .selectFrom('deliveries')
        .select('event_id')
        .where('state', '=', 'delivered')
      return (await delivered.execute()).length === count
    })
  const idsOf = (leadId: number) =>
    Object.fromEntries(leads.arrivals(leadId).map(({ id, body }) => [id, body]))

  beforeAll(async () => {
    postgres = await ownPostgres()
    mails = await startMailServer()
    service = await prepareService({
      DATABASE_URL: postgres.url,
      SMTP_URL: mails.url,
      MAIL_FROM: 'service@example.com',
      MAIL_REPLY_TO: 'help@example.com',
      MAIL_FOOTER: 'Example Inc., 1 Main Street',
      MAIL_ALLOW_DOMAINS: 'example.com',
      STAFF_EMAIL: 'staff@example.com',
    })
    partner = await service.addPartner()
    const contact = { contact_email: 'contact@example.com' }
    await service.sql.updateTable('partners').set(contact).where('id', '=', partner.id).execute()
    leads = leadsOf(service, partner)
    const [api] = await Promise.all([service.startApi(), service.startWorker()])
    calls = partnerCalls(api.port, partner.key)
    survivor = await calls.createLead()
    await service.referrals.record(survivor, { name: 'client_account_created' })
    await allDelivered(2)
    await postgres.kill()
    postgres.keepFiles()
    await postgres.start()

    for (const name of LOST) await until(() => service.referrals.record(survivor, { name }).then(() => true))
    lost = await calls.createLead({ partner_lead_id: 'LOST' })
    await allDelivered(5)
    lostCursor = (await listEvents()).next
    await postgres.kill()
    postgres.putFilesBack()
    await postgres.start()
    generation = await service.sql.transaction().execute((trx) => raiseGeneration(trx, 'staff'))
  }, 60_000)

  it('has the milestones again that Temporal knows, as the same events and webhooks', async () => {
    const before = idsOf(survivor)
    await leads.recorded(survivor, 'escrow_funded')
    expect(await leads.names(survivor)).toEqual([...NOTHING_LOST, ...LOST])
    await partner.endpoint.until(() => leads.arrivals(survivor).length >= 6)
    // sent again: the record had lost that they were taken
    expect(idsOf(survivor)).toEqual(before)
    const sent = leads.arrivals(survivor).map(({ event }) => event.data.sequence)
    expect(sent).toEqual([1, 2, 3, 4, 3, 4])
  }, 30_000)

  it('takes new milestones, whose sequence leaves out those that may have been given', async () => {
    expect(await service.referrals.record(survivor, { name: 'contract_signed' })).toMatchObject({
      outcome: 'repeated',
    })
    await service.referrals.record(survivor, { name: 'mortgage_ready' })
    await partner.endpoint.until(() => leads.arrivals(survivor).length >= 7)
    expect(leads.arrivals(survivor).at(-1)?.event.data).toMatchObject({
      event_name: 'mortgage_ready',
      sequence: 1005,
    })
  }, 30_000)

  it('gives a new lead an id that none had, and sends its webhooks', async () => {
    const next = await calls.createLead()
    expect(next).toBeGreaterThan(1_000_000)
    await partner.endpoint.until(() => leads.arrivals(next).length === 1)
  }, 30_000)

  it('ends the workflow of a lead that is lost, and lists it', async () => {
    expect(await service.client.workflow.getHandle(`lead-${lost}`).result()).toBe('not in the record')
    expect(await calls.post('get-lead', { lead_id: lost })).toMatchObject({ status: 404 })
    const losses = await lossesOf(service.sql, [generation])
    expect(losses.map(({ lead_id: lead, event_name: name }) => [lead, name])).toEqual([
      [lost, null],
      ...LOST.map((name) => [survivor, name]),
    ])
  }, 30_000)

  it('tells a follower of list-events where to go on', async () => {
    const refused = await listEvents(lostCursor)
    expect(refused).toMatchObject({
      status: 400,
      error: { message: expect.stringContaining('it was restored from a backup'), next: expect.any(String) },
    })
    const names = (await listEvents(refused.error.next)).data
      .filter(({ lead_id: lead }) => lead === survivor)
      .map(({ event_name: name }) => name)
    expect(names).toEqual([...LOST, 'mortgage_ready'])
  })

  it('tells partner and staff by mail, once all workflows go on with it', async () => {
    await until(async () => (await listRestores(service.sql))[0]?.finished_at ?? undefined)
    const about = mails.mails.filter(({ content }) => content.includes('Our database was restored'))
    expect(about.map(({ to }) => to)).toEqual(['contact@example.com', 'staff@example.com'])
    expect(about[0]?.content).toContain(`will not be used again: ${lost}.`)
    expect(about[0]?.content).toContain('3 events were lost and are recorded again.')
  }, 30_000)

  it('is noticed by the first workflow that knows more, if nobody says it', async () => {
    const leadId = await calls.createLead()
    await service.referrals.record(leadId, { name: 'client_account_created' })
    await partner.endpoint.until(() => leads.arrivals(leadId).length === 2)
    await postgres.kill()
    postgres.keepFiles()
    await postgres.start()
    await until(() => service.referrals.record(leadId, { name: 'contract_signed' }).then(() => true))
    await postgres.kill()
    postgres.putFilesBack()
    await postgres.start()
    await service.referrals.record(leadId, { name: 'escrow_funded' })
    const names = ['lead_received', 'client_account_created', 'contract_signed', 'escrow_funded']
    expect(await leads.names(leadId)).toEqual(names)
    expect((await listRestores(service.sql)).at(-1)).toMatchObject({ cause: 'workflow' })
    await partner.endpoint.until(() => leads.arrivals(leadId).at(-1)?.event.data.sequence === 1004)
  }, 60_000)
})
