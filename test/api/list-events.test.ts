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

  it.each([
    '578930695-03538091767385-2446406-22',
    '01-1-1-1',
    '1-1-01-1',
    '1-1-1-01',
    '1-00-1-1',
    '2147483648-1-1-1',
    '1-18446744073709551616-1-1',
    '1-99999999999999999999-1-1',
    '1-1-2147483648-1',
    '1-1-1-2147483648',
    '-1-1-1-1',
    '1--1-1-1',
    '1-1-1',
    '1-1-1-1-1',
    '1-1-1-1 ',
    '１-1-1-1',
    '1e1-1-1-1',
    `1-${'9'.repeat(40)}-1-1`,
    '',
  ])('refuses the cursor %j, which was never handed out', async (after) => {
    const { status, body } = await partner.post('list-events', { after })
    expect([status, body.error.message]).toEqual([
      400,
      'Invalid request: after must be the next of an earlier response, or now.',
    ])
  })

  it.each(['0-0-0-0', '2147483647-18446744073709551615-2147483647-2147483647'])(
    'takes the cursor %j, at the end of its range',
    async (after) => {
      expect((await partner.post('list-events', { after, limit: 1 })).status).toBe(200)
    },
  )
})
