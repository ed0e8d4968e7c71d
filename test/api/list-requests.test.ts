import { beforeAll, describe, expect, it } from '@jest/globals'
import { sql as raw } from 'kysely'
import { v7 as uuidv7 } from 'uuid'
import { createRequestLog } from '../../src/capabilities/requests/request-log.ts'
import {
  type AnsweredRequest,
  deleteBeyond,
  insertRequests,
} from '../../src/capabilities/requests/statements/write-requests.ts'
import { LARGEST_ID } from '../../src/core/values/ids.ts'
import type { Sql } from '../../src/core/database/orm.ts'
import { holdRow } from '../support/row-lock.ts'
import { openDatabase } from '../support/open-database.ts'
import { partnerCalls, prepareService } from '../support/service.ts'
import { until } from '../support/until.ts'
import { type Answer, type Api, type ApiPartner, borrower, prepareApi } from './api.ts'
import { createAndRead } from './many-reads.ts'

const idOf = ({ headers }: Answer) => String(headers['x-request-id'])
const DAY_MS = 86_400_000

interface Listed {
  call: string
  request_id: string
  lead_id: number | null
}

describe('list-requests', () => {
  let api: Api
  let partner: ApiPartner
  let stranger: ApiPartner

  beforeAll(async () => {
    api = await prepareApi()
    ;[partner, stranger] = [await api.addPartner(), await api.addPartner()]
  })

  const console = { 'x-requested-with': 'console' }
  const list = async (body: object = {}, who = partner) =>
    (await who.post('list-requests', body, console)).body as { data: Listed[]; next: string | null }
  /** Once the last of them is listed. */
  const listed = async (last: Answer, body: object = {}, who = partner): Promise<Listed[]> => {
    await until(async () => (await list({ request_id: idOf(last) }, who)).data.length === 1)
    return (await list(body, who)).data
  }

  it('lists what was asked and how it was answered, newest first, and nothing that was sent', async () => {
    const created = await partner.post('create-lead', borrower)
    const refused = await partner.post('create-lead', { ...borrower, email: 'canary', phone: 1, canary: 1 })
    const read = await partner.post('get-lead', { lead_id: created.body.lead_id })
    const found = await listed(read)
    expect(found).toEqual([
      {
        request_id: idOf(read),
        key_id: partner.keyId,
        key_last4: partner.key.slice(-4),
        call: 'get-lead',
        status: 200,
        error_code: null,
        fields: [],
        lead_id: created.body.lead_id,
        duration_ms: expect.any(Number),
        created_at: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/),
      },
      expect.objectContaining({
        request_id: idOf(refused),
        call: 'create-lead',
        status: 400,
        error_code: 'INVALID_PAYLOAD',
        fields: ['email', 'phone'],
        lead_id: null,
      }),
      expect.objectContaining({ request_id: idOf(created), lead_id: created.body.lead_id }),
    ])
    const { rows } = await raw<{ row: string }>`select requests::text as row from requests`.execute(api.sql)
    expect(JSON.stringify(rows)).not.toMatch(/canary|Miller|example/)
    expect((await list({}, stranger)).data).toEqual([])
  })

  it('names the lead of a request that came no further than its body, if an id can be so', async () => {
    const lead = await partner.createLead()
    const update = (id: unknown) =>
      partner.post('update-partner-info', { lead_id: id, property_state: 'Texas', 'canary/x': 'y' })
    const ids = [lead, 0, -1, 1.5, 'canary', LARGEST_ID + 1, null]
    const answers = await Promise.all(ids.map(update))
    await Promise.all(answers.map((answer) => listed(answer)))
    const found = await Promise.all(answers.map((answer) => list({ request_id: idOf(answer) })))
    expect(found.map(({ data }) => data[0]?.lead_id)).toEqual([lead, null, null, null, null, null, null])
    for (const { data } of found) expect(JSON.stringify(data)).not.toContain('canary')
    const unknown = await partner.post('get-lead', { lead_id: LARGEST_ID })
    expect(await listed(unknown, { lead_id: LARGEST_ID })).toMatchObject([{ error_code: 'NOT_FOUND' }])
  })

  it('filters by request, lead, and status or its class', async () => {
    const own = await api.addPartner()
    const lead = await own.createLead()
    const answers = [
      await own.post('get-lead', { lead_id: lead }),
      await own.post('get-lead', { lead_id: lead + 1 }),
      await own.post('get-events', {}),
      await own.post('get-events', 'canary', { 'content-type': 'text/plain' }),
    ]
    const [found, missing, empty, text] = answers.map(idOf)
    await listed(answers[3]!, {}, own)
    const ids = async (body: object) => (await list(body, own)).data.map((each) => each.request_id)
    expect(await ids({ lead_id: lead + 1 })).toEqual([missing])
    expect(await ids({ lead_id: lead })).toHaveLength(2)
    expect(await ids({ status: '404' })).toEqual([missing])
    expect(await ids({ status: '4xx' })).toEqual([text, empty, missing])
    expect(await ids({ status: '4xx', lead_id: lead + 1 })).toEqual([missing])
    expect(await ids({ request_id: found })).toEqual([found])
    expect(await ids({ request_id: 'none of ours' })).toEqual([])
    expect(await ids({ status: '5xx' })).toEqual([])
    expect((await list({ request_id: found }, stranger)).data).toEqual([])
  })

  it('goes on page after page', async () => {
    const own = await api.addPartner()
    const answers = []
    for (let count = 0; count < 7; count += 1) answers.push(await own.post('get-endpoint', {}))
    await listed(answers.at(-1)!, {}, own)
    const pages: string[][] = []
    let after: string | null = null
    do {
      const page: Awaited<ReturnType<typeof list>> = await list({ limit: 3, after }, own)
      pages.push(page.data.map((each) => each.request_id))
      after = page.next
    } while (after !== null)
    expect(pages.flat()).toEqual(answers.map(idOf).toReversed())
    expect(pages.map(({ length }) => length)).toEqual([3, 3, 1])
  })

  it.each([
    [{ status: 404 }, 'status must be a string such as "404" or "4xx"'],
    [{ status: 'ok' }, 'status must be a status such as 404, or a class such as 4xx'],
    [{ after: '7' }, 'after must be the next of an earlier response'],
    [{ call: 'get-lead' }, 'call is not a field (use limit, after, request_id, lead_id, status)'],
  ])('refuses %j', async (body, message) => {
    const { status, body: answer } = await partner.post('list-requests', body)
    expect([status, answer.error.message]).toEqual([400, `Invalid request: ${message}.`])
  })

  it('lists refusals of a key of theirs that was revoked or has expired, and of nobody else’s', async () => {
    const own = await api.addPartner()
    for (const column of ['revoked_at', 'expires_at'] as const) {
      const before = await own.post('get-endpoint', {})
      expect(before.status).toBe(200)
      const when = { [column]: new Date(Date.now() - 1000) }
      await api.sql.updateTable('api_keys').set(when).where('id', '=', own.keyId).execute()
      const refused = await until(async () => {
        const answer = await own.post('get-endpoint', {})
        return answer.status === 401 && answer
      })
      const unknown = await own.post('get-endpoint', {}, { authorization: 'Service-Key prs_test_canary' })
      expect(unknown.status).toBe(401)
      await api.sql
        .updateTable('api_keys')
        .set({ [column]: null })
        .where('id', '=', own.keyId)
        .execute()
      expect((await listed(refused, { status: '401' }, own))[0]).toMatchObject({
        request_id: idOf(refused),
        key_id: own.keyId,
        error_code: 'AUTH_FAILED',
      })
      expect((await list({ request_id: idOf(unknown) }, own)).data).toEqual([])
    }
  })

  it('leaves out the console’s requests, and waits in which nothing happened', async () => {
    const own = await api.addPartner()
    const { next: after } = (await own.post('list-events', {}, console)).body
    const waited = await own.post('list-events', { after, wait: 1 })
    expect(waited.body.data).toEqual([])
    const polled = await own.post('list-events', { after })
    const found = await listed(polled, {}, own)
    expect(found.map((each) => each.request_id)).toEqual([idOf(polled)])
  })

  it('lists a request whose sender did not wait for the answer', async () => {
    const own = await api.addPartner()
    const lead = await own.createLead()
    const address = await api.app.listen({ port: 0, host: '127.0.0.1' })
    const lock = await holdRow(api.sql, 'leads', `id = ${lead}`)
    const gone = new AbortController()
    const answer = fetch(`${address}/v1/update-partner-info`, {
      method: 'POST',
      headers: { authorization: `Service-Key ${own.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ lead_id: lead, loan_product: 'VA' }),
      signal: gone.signal,
    }).catch(() => 'gone')
    await lock.reached()
    gone.abort()
    expect(await answer).toBe('gone')
    await lock.release()
    await until(async () => {
      const { data } = await list({ lead_id: lead, status: '2xx' }, own)
      return data.some((each) => each.call === 'update-partner-info')
    })
  })

  it('shows those of the last seven days only, and the latest 10,000', async () => {
    const own = await api.addPartner()
    const made = (at: number): AnsweredRequest => ({
      id: uuidv7({ msecs: at }),
      partnerId: own.id,
      keyId: own.keyId,
      call: 'ping',
      status: 200,
      errorCode: null,
      fields: [],
      leadId: at % 2 === 0 ? 1 : null,
      durationMs: 1,
    })
    const [old, young] = [7 * DAY_MS + 60_000, 7 * DAY_MS - 60_000].map((age) => made(Date.now() - age))
    await insertRequests(api.sql, [old!, young!])
    const shown = async (body: object) => (await list(body, own)).data.map((each) => each.request_id)
    expect(await shown({})).toEqual([young?.id])
    const start = Date.now() - 60_000
    const many = Array.from({ length: 10_000 }, (_, index) => made(start + index))
    await insertRequests(api.sql, many)
    // once more, as after a connection that broke
    await insertRequests(api.sql, many)
    expect(await shown({ request_id: young?.id })).toEqual([])
    expect(await shown({ request_id: many[0]?.id })).toEqual([many[0]?.id])
    expect(await shown({ limit: 1, lead_id: 1 })).toHaveLength(1)
    await deleteBeyond(api.sql, own.id)
    const left = await api.sql.selectFrom('requests').select('id').where('partner_id', '=', own.id).execute()
    expect(left).toHaveLength(10_000)
  })
})

describe('a production API', () => {
  it('has no console, and lists whoever says to be one', async () => {
    const api = await prepareApi({ environment: 'production' })
    const partner = await api.addPartner()
    await partner.post('get-endpoint', {}, { 'x-requested-with': 'console' })
    const calls = await until(async () => {
      const { body } = await partner.post('list-requests', {})
      return body.data.length > 0 && body.data.map(({ call }: { call: string }) => call)
    })
    expect(calls).toContain('get-endpoint')
  })
})

describe('an API process that stops', () => {
  it('writes the requests that it has answered, and those in flight', async () => {
    const service = await prepareService()
    const { id, key } = await service.addPartner()
    const api = await service.startApi()
    const calls = partnerCalls(api.port, key)
    const lead = await createAndRead(calls, 50)
    const lock = await holdRow(service.sql, 'leads', `id = ${lead}`)
    const last = calls.post('update-partner-info', { lead_id: lead, loan_product: 'VA' })
    await lock.reached()
    const stopped = api.stop()
    await lock.release()
    expect((await last).status).toBe(200)
    expect(await stopped).toBe(0)
    const rows = await service.sql.selectFrom('requests').selectAll().where('partner_id', '=', id).execute()
    expect(rows).toHaveLength(52)
  })
})

describe('requests that cannot be written', () => {
  let sql: Sql
  let partnerId: number
  const lines: unknown[] = []
  const line = (...args: unknown[]) => void lines.push(args)
  const log = { warn: line, error: line, info: line }

  beforeAll(async () => {
    ;({ sql, partnerId } = await openDatabase())
  })

  it('are kept up to a bound and counted beyond it, and a partner’s oldest are deleted', async () => {
    let isAway = true
    const away = sql.withPlugin({
      transformQuery({ node }) {
        if (isAway) throw new Error('PostgreSQL is away')
        return node
      },
      transformResult: async ({ result }) => result,
    })
    let unlisted = 0
    const countUnlisted = (count: number) => void (unlisted += count)
    const requests = createRequestLog({ sql: away, log, countUnlisted, mostASecond: 20_000 })
    const add = (at: number) => requests.add(partnerId, () => noted(partnerId, at))
    const now = Date.now()
    for (let index = 0; index < 16_000; index += 1) add(now - 20_000 + index)
    expect(unlisted).toBe(5000)
    await until(async () => lines.length >= 1)
    isAway = false
    await requests.close()
    expect(unlisted).toBe(5000)
    const rows = await sql.selectFrom('requests').select('id').orderBy('id').execute()
    expect(rows).toHaveLength(10_000)
    expect(Number.parseInt(rows[0]!.id.slice(0, 13).replace('-', ''), 16)).toBe(now - 20_000 + 6000)
  })

  it('are counted, too, beyond so many of a partner in a second, which take no room of another', async () => {
    const { sql: own, partnerId: first } = await openDatabase()
    let unlisted = 0
    const requests = createRequestLog({ sql: own, log, countUnlisted: (count) => (unlisted += count) })
    for (let index = 0; index < 150; index += 1) requests.add(first, () => noted(first, Date.now()))
    requests.add(first + 1, () => noted(first + 1, Date.now()))
    await requests.close()
    const rows = await own.selectFrom('requests').select('partner_id').execute()
    expect([rows.length + unlisted, rows.filter((row) => row.partner_id !== first).length]).toEqual([151, 1])
    // a second may have ended meanwhile
    expect(unlisted).toBeGreaterThan(0)
  })
})

const noted = (partnerId: number, at: number) => ({
  id: uuidv7({ msecs: at }),
  partnerId,
  keyId: 1,
  call: 'ping',
  status: 200,
  errorCode: null,
  fields: [],
  leadId: null,
  durationMs: 1,
})
