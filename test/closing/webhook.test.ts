import { beforeEach, beforeAll, describe, expect, it } from '@jest/globals'
import { setNotifications } from '../../src/core/endpoints/statements/notifications.ts'
import { closeLead } from '../../src/core/leads/statements/closing.ts'
import { requireDeployment } from '../../src/core/record/statements/deployment.ts'
import { raiseGeneration } from '../../src/core/record/statements/generation.ts'
import { endpointOf } from '../support/endpoint-states.ts'
import { insertLead } from '../support/insert-lead.ts'
import { LEAD, leadsOf } from '../support/leads.ts'
import { openDatabase } from '../support/open-database.ts'
import { partnerCalls, type TestPartner } from '../support/service.ts'
import { type SharedService, sharedService } from '../support/shared-service.ts'
import { until } from '../support/until.ts'

describe('the webhook lead.closed', () => {
  let service: SharedService
  let partner: TestPartner
  let leads: ReturnType<typeof leadsOf>
  let lead: number

  // eslint-disable-next-line typescript/no-explicit-any
  let post: (path: string, body: object) => Promise<{ status: number; body: any }>

  beforeAll(async () => {
    service = await sharedService()
  }, 60_000)

  beforeEach(async () => {
    partner = await service.addPartner()
    leads = leadsOf(service, partner)
    post = partnerCalls(service.port, partner.key).post
    await post('set-endpoint', { notify: ['lead.closed'] })
    lead = await leads.start()
    await partner.endpoint.until(() => leads.arrivals(lead).length === 1)
  })

  const handle = () => service.client.workflow.getHandle(`lead-${lead}`)
  const close = (reason = 'withdrew') => service.referrals.signal(lead, 'close', { reason })
  const types = () => leads.arrivals(lead).map(({ event }) => event.type)
  const told = () => partner.endpoint.until(() => types().includes('lead.closed'))
  const deliveries = async () => (await post('get-deliveries', { lead_id: lead })).body.data

  it('is the last of the lead, signed, in the shape of the others, and in no history', async () => {
    await service.referrals.signal(lead, 'contract_signed')
    await close()
    expect(await handle().result()).toBe('withdrew')
    expect(types()).toEqual(['lead_received', 'contract_signed', 'lead.closed'])
    const arrival = leads.arrivals(lead).at(-1)
    const read = (await post('get-lead', { lead_id: lead })).body
    expect(arrival?.event).toEqual({
      type: 'lead.closed',
      timestamp: `${read.closing.at.replace(' ', 'T')}Z`,
      data: {
        event_id: arrival?.id,
        event_name: 'lead.closed',
        event_payload: { reason: 'withdrew' },
        created_at: read.data.closed_at,
        lead_id: lead,
        partner_lead_id: null,
        sequence: 3,
        environment: 'sandbox',
      },
    })
    expect(arrival?.verified).toBe(true)
    const history = (await post('get-events', { lead_id: lead })).body.data
    expect(history.map((event: { event_name: string }) => event.event_name)).toEqual([
      'lead_received',
      'contract_signed',
    ])
    // it shows an event once no older transaction is open, of other databases' either
    const feed = await until(async () => {
      const { body } = await post('list-events', { limit: 100 })
      return body.data.length === 2 && body
    })
    expect(feed.data.map((event: { event_name: string }) => event.event_name)).toEqual([
      'lead_received',
      'contract_signed',
    ])
    // nor does it keep a reader of the feed from its end
    expect((await post('list-events', { after: feed.next })).body).toMatchObject({
      data: [],
      has_more: false,
    })
    const exported = (await post('export-lead', { lead_id: lead })).body.data
    expect(exported.events).toHaveLength(2)
    expect(exported.deliveries ?? exported.webhooks).toHaveLength(3)
    expect((await deliveries()).map((row: { event_name: string }) => row.event_name).toSorted()).toEqual([
      'contract_signed',
      'lead.closed',
      'lead_received',
    ])
  })

  it('is retried like the others, and the workflow waits for it', async () => {
    partner.endpoint.answer = (_, response) => void response.writeHead(503).end()
    await close()
    await told()
    await until(async () => (await handle().query<{ failure: object | null }>('state')).failure !== null)
    expect((await handle().describe()).status.name).toBe('RUNNING')
    expect(await handle().query('state')).toMatchObject({ closing: true, last: 2, next: 2 })
    partner.endpoint.answer = (_, response) => void response.writeHead(200).end()
    await service.referrals.signal(lead, 'send_now')
    expect(await handle().result()).toBe('withdrew')
    expect((await deliveries()).every((row: { state: string }) => row.state === 'delivered')).toBe(true)
  })

  it('waits for a paused endpoint, and goes out once that is resumed', async () => {
    await post('pause-endpoint', {})
    await close()
    expect(await handle().result()).toBe('withdrew')
    expect(types()).toEqual(['lead_received'])
    await post('resume-endpoint', {})
    await endpointOf(service, partner).is('active')
    await told()
  }, 60_000)

  it('goes out after its workflow was terminated, and can be sent again', async () => {
    partner.endpoint.answer = (_, response) => void response.writeHead(503).end()
    await close()
    await told()
    await handle().terminate()
    partner.endpoint.answer = (_, response) => void response.writeHead(200).end()
    await service.sql
      .updateTable('deliveries')
      .set({ next_attempt_at: new Date() })
      .where('lead_id', '=', lead)
      .execute()
    await service.referrals.startFromRecord(lead)
    await handle().result()
    const closed = (await deliveries()).find(
      (row: { event_name: string }) => row.event_name === 'lead.closed',
    )
    expect(closed.state).toBe('delivered')
    const before = types().length
    expect((await post('resend-webhook', { event_id: closed.event_id })).status).toBe(200)
    await partner.endpoint.until(() => types().length > before)
    expect(types().at(-1)).toBe('lead.closed')
  }, 60_000)

  it.each([
    ['canceled', () => handle().cancel()],
    ['other', () => close('he died')],
    ['withdrew', async () => void (await post('close-lead', { lead_id: lead, reason: 'withdrew' }))],
    [
      'mortgage_ready',
      async () => {
        await service.referrals.record(lead, { name: 'mortgage_ready' })
        await post('sandbox/advance-clock', { lead_id: lead, to: 'end' })
      },
    ],
  ])('names the reason %s', async (reason, end) => {
    await end()
    await told()
    expect(leads.arrivals(lead).at(-1)?.event.data.event_payload).toEqual({ reason })
    await handle().result()
  })

  it('is not sent for an erasure, which cancels one that is open', async () => {
    partner.endpoint.answer = (_, response) => void response.writeHead(503).end()
    await close()
    await told()
    const other = await leads.start()
    for (const id of [lead, other]) await post('erase-lead', { lead_id: id })
    const left = () =>
      service.sql
        .selectFrom('deliveries')
        .select(['lead_id', 'sequence', 'state'])
        .where('lead_id', 'in', [lead, other])
        .orderBy('lead_id')
        .orderBy('sequence')
        .execute()
    await until(async () => (await left()).every(({ state }) => state !== 'pending'))
    expect(await left()).toEqual([
      { lead_id: lead, sequence: 1, state: 'delivered' },
      { lead_id: lead, sequence: 2, state: 'canceled' },
      { lead_id: other, sequence: 1, state: expect.any(String) },
    ])
  })

  it('is sent to nobody who did not ask, or does not any more', async () => {
    const asked = await post('set-endpoint', { notify: ['lead.closed'] })
    expect(asked.body.data.notify).toEqual(['lead.closed'])
    expect(asked.body.data).not.toHaveProperty('secret')
    // an address change leaves it as it is
    const changed = await post('set-endpoint', { url: partner.endpoint.url })
    expect(changed.body.data).toMatchObject({ notify: ['lead.closed'], secret: expect.any(String) })
    expect((await post('set-endpoint', { notify: [] })).body.data.notify).toEqual([])
    await close()
    await handle().result()
    expect(types()).toEqual(['lead_received'])
    expect((await post('get-endpoint', {})).body.data.notify).toEqual([])
    const fresh = await service.addPartner()
    const { body } = await partnerCalls(service.port, fresh.key).post('get-endpoint', {})
    expect(body.data).toMatchObject({ notify: [] })
  })

  it.each([
    [{ notify: ['lead.opened'] }, 'must be one of lead.closed'],
    [{ notify: 'lead.closed' }, 'notify must be a list'],
    [{ notify: ['lead.closed', 'lead.closed'] }, 'once at most'],
    [{ notify: null }, 'notify must be a list'],
    [{}, 'url is required, unless you send notify'],
  ])('cannot be asked for with %j', async (body, why) => {
    const answer = await post('set-endpoint', body)
    expect([answer.status, answer.body.error.message]).toEqual([400, expect.stringContaining(why)])
  })
})

describe('closing a lead in the record', () => {
  it('inserts the webhook once, and leaves sequences out that a lost record may have used', async () => {
    const { sql, partnerId: id } = await openDatabase()
    await requireDeployment(sql, 'sandbox')
    await setNotifications(sql, id, ['lead.closed'])
    const lead = await insertLead(sql, id, LEAD, () => '{}')
    await sql.transaction().execute((trx) => raiseGeneration(trx, 'staff'))
    const first = await closeLead(sql, lead, 'withdrew', JSON.stringify)
    expect(first).toEqual({ offset: 0, last: 1002 })
    expect(await closeLead(sql, lead, 'other', JSON.stringify)).toEqual(first)
    const rows = await sql
      .selectFrom('lead_events')
      .innerJoin('deliveries', 'deliveries.event_id', 'lead_events.id')
      .select(['position', 'event_name', 'dedupe_key', 'sequence', 'event_payload'])
      .where('lead_events.lead_id', '=', lead)
      .orderBy('sequence')
      .execute()
    expect(rows.slice(1)).toEqual([
      {
        position: null,
        event_name: 'lead.closed',
        dedupe_key: 'lead.closed',
        sequence: 1002,
        event_payload: { reason: 'withdrew' },
      },
    ])
  })
})
