import { beforeAll, describe, expect, it } from '@jest/globals'
import { type Api, type ApiPartner, prepareApi } from './api.ts'

/** Transactions as PostgreSQL numbered them, across the steps at which the numbers gain a digit. */
const TRANSACTIONS = [8, 9, 10, 11, 99, 100, 101]

interface Page {
  data: { lead_id: number }[]
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

  it('goes on where "now" was', async () => {
    const { data, next } = await page({ after: 'now' })
    expect(data).toEqual([])
    const later = await partner.createLead()
    // transactions of other tests on this server hold events back for a moment
    const { data: news } = await page({ after: next, wait: 20 })
    expect(news.map(({ lead_id: id }) => id)).toEqual([later])
    leads.push(later)
  })
})
