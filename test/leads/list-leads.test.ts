import { beforeAll, describe, expect, it } from '@jest/globals'
import { switchAsStaff } from '../../src/endpoints/switch-endpoint.ts'
import { recordClosing } from '../../src/leads/close-lead.ts'
import { putEndpoints } from '../support/endpoint-states.ts'
import { record } from '../support/leads.ts'
import { type Api, type ApiPartner, prepareApi } from '../support/api.ts'

describe('list-leads', () => {
  let api: Api
  let partner: ApiPartner
  let stranger: ApiPartner
  const leads: number[] = []

  beforeAll(async () => {
    api = await prepareApi()
    ;[partner, stranger] = [await api.addPartner(), await api.addPartner()]
    await switchAsStaff(api.sql, partner.id, { url: 'https://lender.example/webhooks', secret: () => 'none' })
    for (let count = 0; count < 5; count += 1)
      leads.push(await partner.createLead({ partner_lead_id: `LOAN-${count % 2}` }))
    await stranger.createLead({ partner_lead_id: 'LOAN-1' })
    await api.sql
      .updateTable('deliveries')
      .set({ state: 'delivered', settled_at: new Date() })
      .where('lead_id', 'not in', leads.slice(3))
      .execute()
    await api.sql
      .updateTable('deliveries')
      // setting the URL began the endpoint's second round
      .set({ failures: 2, round: 2 })
      .where('lead_id', '=', leads[4]!)
      .execute()
    await record(api.sql, leads[1]!, 'client_account_created')
    await recordClosing(api.sql, leads[2]!, 'withdrew')
  })

  const list = async (body: object = {}, who = partner) => (await who.post('list-leads', body)).body
  const ids = async (body: object = {}) =>
    (await list(body)).data.map(({ lead_id: leadId }: { lead_id: number }) => leads.indexOf(leadId))

  it('lists a partner’s leads, newest first, without personal data', async () => {
    const { data, next } = await list()
    expect(data.map((lead: { lead_id: number }) => lead.lead_id)).toEqual(leads.toReversed())
    expect(data[0]).toEqual({
      lead_id: leads[4],
      partner_lead_id: 'LOAN-0',
      status: 'lead_received',
      closed: false,
      closed_at: null,
      delivery: 'failing',
      open_deliveries: 1,
      created_at: expect.stringMatching(/^\d{4}-/),
      updated_at: expect.stringMatching(/^\d{4}-/),
    })
    expect(next).toBeNull()
  })

  it('goes on where the page before ended', async () => {
    const first = await list({ limit: 2 })
    const second = await list({ limit: 2, after: first.next })
    const third = await list({ limit: 2, after: second.next })
    const all = [first, second, third].flatMap(({ data }) =>
      data.map((lead: { lead_id: number }) => lead.lead_id),
    )
    expect(all).toEqual(leads.toReversed())
    expect(third.next).toBeNull()
  })

  it.each([
    [{ status: 'client_account_created' }, [1]],
    [{ partner_lead_id: 'LOAN-1' }, [3, 1]],
    [{ partner_lead_id: 'LOAN-1', status: 'lead_received' }, [3]],
    [{ partner_lead_id_prefix: 'LOAN-' }, [4, 3, 2, 1, 0]],
    [{ partner_lead_id_prefix: 'LOAN-%' }, []],
    [{ partner_lead_id_prefix: 'loan' }, []],
    [{ delivery: 'failing' }, [4]],
    [{ delivery: 'held' }, []],
    [{ closed: true }, [2]],
    [{ closed: false }, [4, 3, 1, 0]],
  ])('filters by %j', async (filter, expected) => {
    expect(await ids(filter)).toEqual(expected)
  })

  it('shows as held what waits for a paused endpoint', async () => {
    await putEndpoints(api.sql, 'paused', { partnerId: partner.id })
    try {
      expect(await ids({ delivery: 'failing' })).toEqual([])
      // the webhook of the new milestone too
      expect(await ids({ delivery: 'held' })).toEqual([4, 3, 1])
      expect((await list({ delivery: 'held' })).data[0].delivery).toBe('held')
    } finally {
      await putEndpoints(api.sql, 'active', { partnerId: partner.id })
    }
  })
})
