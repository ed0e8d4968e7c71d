import { setTimeout as delay } from 'node:timers/promises'
import { beforeAll, describe, expect, it } from '@jest/globals'
import { CACHE_MS } from '../../src/partners/authentication.ts'
import { record as recordFor } from '../support/leads.ts'
import type { MilestoneName } from '../../src/leads/milestones.ts'
import { until } from '../support/until.ts'
import { type Api, type ApiPartner, prepareApi } from '../support/api.ts'

const WAIT_SECONDS = 20
/** An answer within this time did not wait to the end, even on a busy machine. */
const SOON_MS = 10_000

describe('list-events with wait', () => {
  let api: Api
  let address: string
  let partner: ApiPartner
  let stranger: ApiPartner
  let leadId: number

  beforeAll(async () => {
    api = await prepareApi()
    address = await api.app.listen({ port: 0, host: '127.0.0.1' })
    ;[partner, stranger] = [await api.addPartner(), await api.addPartner()]
    leadId = await partner.createLead()
    // transactions of other tests on this server hold events back for a moment
    await until(async () => (await newest()) !== '0-0-0-0')
  })

  const record = (...names: MilestoneName[]) => recordFor(api.sql, leadId, ...names)
  const newest = async (who = partner): Promise<string> => (await who.post('list-events', {})).body.next
  const list = async (body: object, who = partner, signal?: AbortSignal) => {
    const began = performance.now()
    const response = await fetch(`${address}/v1/list-events`, {
      method: 'POST',
      headers: { authorization: `Service-Key ${who.key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      ...(signal && { signal }),
    })
    const answer = (await response.json()) as { data: { event_name: string }[]; next: string }
    const at = performance.now()
    return { status: response.status, ...answer, at, ms: at - began }
  }
  /** Repeats a wait that got no events: transactions in other databases can hold events back for longer. */
  const untilNews = async (answer: ReturnType<typeof list>) => {
    let got = await answer
    while (got.data.length === 0) got = await list({ after: got.next, wait: WAIT_SECONDS })
    return got
  }
  const showsNewsAfter = (after: string) => until(async () => (await newest()) !== after)
  /** Begins three waits with one key, one of which is refused. Returns the two others once they wait. */
  const beginTwo = async () => {
    const after = await newest()
    const all = Array.from({ length: 3 }, () => {
      const gone = new AbortController()
      return { gone, after, answer: list({ after, wait: WAIT_SECONDS }, partner, gone.signal) }
    })
    const refused = await Promise.race(
      all.map(async (one) => ({ one, answered: await one.answer.catch(() => undefined) })),
    )
    expect(refused.answered).toMatchObject({ status: 429, error: { code: 'RATE_LIMITED' } })
    return all.filter((one) => one !== refused.one)
  }

  it('answers as soon as there is an event', async () => {
    const after = await newest()
    const answer = untilNews(list({ after, wait: WAIT_SECONDS }))
    await record('client_account_created')
    await showsNewsAfter(after)
    const shown = performance.now()
    const { data, at } = await answer
    expect(data.map(({ event_name: name }) => name)).toEqual(['client_account_created'])
    expect(at - shown).toBeLessThan(SOON_MS)
  })

  it('answers with no events and the next cursor when the time is over', async () => {
    const after = await newest()
    const { status, data, next, ms } = await list({ after, wait: 1 })
    expect([status, data, next]).toEqual([200, [], after])
    expect(ms).toBeGreaterThanOrEqual(990)
  })

  it('waits for its own partner’s events only', async () => {
    const after = await newest()
    const answer = list({ after: await newest(stranger), wait: 1 }, stranger)
    await record('contract_signed')
    expect((await answer).data).toEqual([])
    // or the next test would get it
    await showsNewsAfter(after)
  })

  it('takes two waits of a key at a time, and forgets one whose client is gone', async () => {
    const [first, second] = await beginTwo()
    first?.gone.abort()
    await expect(first?.answer).rejects.toThrow('abort')
    let third = await list({ after: first?.after, wait: 1 })
    while (third.status === 429) third = await list({ after: first?.after, wait: 1 })
    expect(third.data).toEqual([])
    await record('escrow_funded')
    const { data } = await untilNews(second!.answer)
    expect(data.at(-1)).toMatchObject({ event_name: 'escrow_funded' })
  })

  it('refuses a key that is revoked while it waits, whatever comes', async () => {
    const other = await api.addPartner()
    const lead = await other.createLead()
    await until(async () => (await newest(other)) !== '0-0-0-0')
    const answer = list({ after: await newest(other), wait: WAIT_SECONDS }, other)
    const row = () => api.sql.selectFrom('api_keys').select('last_used_at').where('id', '=', other.keyId)
    await until(async () => (await row().executeTakeFirstOrThrow()).last_used_at)
    await api.sql
      .updateTable('api_keys')
      .set({ revoked_at: new Date() })
      .where('id', '=', other.keyId)
      .execute()
    // a key is looked up again after a second
    await delay(2 * CACHE_MS)
    await recordFor(api.sql, lead, 'contract_signed')
    expect(await answer).toMatchObject({ status: 401, error: { code: 'AUTH_FAILED' } })
  })

  it.each([-1, 26, 1.5, '5'])('refuses to wait for %j seconds', async (wait) => {
    expect((await list({ wait })).status).toBe(400)
  })

  it('answers everybody who waits when the process is told to stop', async () => {
    const waiting = await beginTwo()
    const closing = api.app.close()
    for (const { answer, after } of waiting) {
      expect(await answer).toMatchObject({ status: 200, data: [], next: after })
    }
    await closing
  })
})
