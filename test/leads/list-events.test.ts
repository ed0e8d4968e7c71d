import { beforeAll, describe, expect, it } from '@jest/globals'
import { recordClosing } from '../../src/leads/close-lead.ts'
import { insertLead } from '../support/insert-lead.ts'
import { LEAD, record } from '../support/leads.ts'
import { until } from '../support/until.ts'
import { type Api, type ApiPartner, prepareApi } from '../support/api.ts'

/** Transactions as PostgreSQL numbered them, across the steps at which the numbers gain a digit. */
const TRANSACTIONS = [8, 9, 10, 11, 99, 100, 101]

interface Page {
  data: { lead_id: number; cursor: string }[]
  next: string
  has_more: boolean
}

describe('list-events', () => {
  let api: Api
  let partner: ApiPartner
  const leads: number[] = []

  beforeAll(async () => {
    api = await prepareApi()
    partner = await api.addPartner()
    for (const txid of TRANSACTIONS) {
      const leadId = await partner.createLead()
      leads.push(leadId)
      await api.sql
        .updateTable('lead_events')
        .set({ txid: String(txid) })
        .where('lead_id', '=', leadId)
        .execute()
    }
  })

  const page = async (body: object) => (await partner.post('list-events', body)).body as unknown as Page
  /** Transactions in the server’s other databases can hold events back for longer than a request waits. */
  const untilNews = <Some extends { data: unknown[] }>(wait: () => Promise<Some>) =>
    until(async () => {
      const some = await wait()
      return some.data.length > 0 && some
    })

  it.each([1, 2, 50])('returns each event once, in commit order, in pages of %d', async (limit) => {
    const seen: number[] = []
    let after: string | null = null
    for (;;) {
      const { data, next, has_more: hasMore } = await page({ after, limit })
      seen.push(...data.map(({ lead_id: id }) => id))
      after = next
      if (!hasMore) break
    }
    expect(seen).toEqual(leads)
    expect((await page({ after })).data).toEqual([])
  })

  it('shows every event to every cursor, also one that commits after a later one', async () => {
    const other = await api.addPartner()
    const read = async (after: string | null) =>
      (await other.post('list-events', { after })).body as unknown as Page
    const [inserted, released] = [Promise.withResolvers<number>(), Promise.withResolvers<void>()]
    const late = api.sql.transaction().execute(async (trx) => {
      inserted.resolve(await insertLead(trx, other.id, LEAD, () => '{}'))
      await released.promise
    })
    const first = await inserted.promise
    const second = await other.createLead()
    const before = await read(null)
    released.resolve()
    await late
    const seen = await until(async () => {
      const { data } = await read(before.next)
      return before.data.length + data.length >= 2 && [...before.data, ...data]
    })
    expect(seen.map(({ lead_id: id }) => id)).toEqual([first, second])
  })

  it.each(['578930695-03538091767385-2446406-22', '2147483648-1-1-1', '1-1-1', '１-1-1-1', ''])(
    'refuses the cursor %j, which was never handed out',
    async (after) => {
      const { status, body } = await partner.post('list-events', { after })
      expect([status, body.error.message]).toEqual([
        400,
        'Invalid request: after must be the next of an earlier response, or now.',
      ])
    },
  )

  describe('with a cursor that this record did not hand out, says where to go on', () => {
    const refusalOf = async (after: string) => {
      const { status, body } = await partner.post('list-events', { after })
      return { status, error: body.error as unknown as { code: string; message: string; next: string } }
    }
    const feed = async () => (await page({})).data.map(({ lead_id: id }) => id)
    const epochOf = async () => Number((await page({ after: 'now' })).next.split('-')[0])

    it.each([
      ['of an epoch to come', (now: number) => `${now + 1}-1-1-1`],
      ['at the end of its range', () => '2147483647-9999999999999999999-2147483647-2147483647'],
      ['of a record that counted from 1', () => '1-81274-1042-3'],
    ])('from the beginning, %s', async (_, cursorOf) => {
      const { status, error } = await refusalOf(cursorOf(await epochOf()))
      expect([status, error.code, error.next]).toEqual([400, 'INVALID_PAYLOAD', '0-0-0-0'])
      expect(error.message).toContain('from another account or deployment')
    })

    it('from the beginning, of another account', async () => {
      const stranger = await api.addPartner()
      await stranger.createLead()
      const { data, next } = await untilNews(
        async () => (await stranger.post('list-events', {})).body as unknown as Page,
      )
      expect(data).toHaveLength(1)
      // so that there is something after it
      const later = await partner.createLead()
      leads.push(later)
      await until(async () => (await feed()).at(-1) === later)
      const { status, error } = await refusalOf(next)
      expect([status, error.next]).toEqual([400, '0-0-0-0'])
    })
  })

  describe('with webhooks', () => {
    interface WebhookPage {
      data: { event_id: string; event_name: string; cursor: string; webhook_body: string | null }[]
      next: string
    }
    const webhooks = async (body: object) =>
      (await other.post('list-events', { webhooks: true, ...body })).body as unknown as WebhookPage
    const close = (lead: number) => recordClosing(api.sql, lead, 'withdrew')
    let other: ApiPartner
    let beforeEnd: string

    beforeAll(async () => {
      other = await api.addPartner()
      await close(await other.createLead())
      const lead = await other.createLead({ partner_lead_id: 'LOAN-1' })
      await record(api.sql, lead, 'client_engaged_in_chat', 'contract_signed')
      await other.post('update-partner-info', { lead_id: lead, partner_lead_id: 'LOAN-2' })
      await has(5)
      beforeEnd = (await webhooks({ after: 'now' })).next
      await close(lead)
      await has(6)
    })

    /** An event shows once all that began before it has ended, in other databases of the server too. */
    const has = (count: number) => until(async () => (await webhooks({})).data.length === count)

    it('has the body of each as it is signed, and no body of lead.closed, which is no webhook', async () => {
      const { data } = await webhooks({})
      expect(data.map(({ event_name: name }) => name)).toEqual([
        'lead_received',
        'lead.closed',
        'lead_received',
        'client_engaged_in_chat',
        'contract_signed',
        'lead.closed',
      ])
      const deliveries = await api.sql.selectFrom('deliveries').select(['event_id', 'body']).execute()
      for (const { event_id: id, webhook_body: body } of data)
        expect(body).toBe(deliveries.find(({ event_id: each }) => each === id)?.body ?? null)
      expect(data[3]?.webhook_body).toBeNull()
      expect(data[4]?.webhook_body).toContain('"partner_lead_id":"LOAN-1"')
      const { body: without } = await other.post('list-events', {})
      expect(JSON.stringify(without)).not.toContain('webhook_body')
      expect(without).toMatchObject({ data: data.map(({ event_id: id }) => ({ event_id: id })) })
    })

    it('goes on after each, also without webhooks, and waits for a lead that is closed', async () => {
      const { data, next } = await webhooks({})
      for (const [index, { cursor }] of data.entries())
        expect((await webhooks({ after: cursor })).data).toEqual(data.slice(index + 1))
      expect((await webhooks({ after: 'now' })).next).toBe(next)
      const { status, body } = await other.post('list-events', { after: next })
      expect([status, body.data]).toEqual([200, []])
      expect((await webhooks({ after: beforeEnd, limit: 1 })).data).toEqual(data.slice(-1))
      const third = await other.createLead()
      const { next: last } = await untilNews(() => webhooks({ after: next, wait: 20 }))
      const waiting = untilNews(() => webhooks({ after: last, wait: 20 }))
      await close(third)
      expect((await waiting).data).toMatchObject([{ event_name: 'lead.closed', lead_id: third }])
    })

    it('has no body of a webhook that was canceled', async () => {
      const [first] = (await webhooks({ limit: 1 })).data
      const id = first?.event_id ?? ''
      await api.sql
        .updateTable('deliveries')
        .set({ state: 'canceled', settled_at: new Date() })
        .where('event_id', '=', id)
        .execute()
      expect((await webhooks({ limit: 1 })).data).toMatchObject([{ event_id: id, webhook_body: null }])
    })
  })
})
