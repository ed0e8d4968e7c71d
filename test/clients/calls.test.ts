import { describe, expect, it } from '@jest/globals'
import { readFileSync } from 'node:fs'
import {
  ApiError,
  AuthFailedError,
  CursorLostError,
  InvalidPayloadError,
  NoAnswerError,
  phoneNumber,
  RateLimitedError,
  Referrals,
  timeOf,
} from '../../src/clients/typescript/src/index.ts'
import type { Document } from '../../src/clients/document.ts'
import { emit } from '../../src/clients/typescript/emit.ts'
import { waitOf } from '../../src/clients/typescript/src/retries.ts'
import { answers, dropped, failure, scriptedApi, silent } from './scripted-api.ts'

const document = JSON.parse(readFileSync('docs/openapi.json', 'utf8')) as Document
const LEAD = { first_name: 'Ada', last_name: 'Miller', email: 'ada@example.com', phone: '555-0100' }
const CREATED = { success: true, message: 'Lead created.', lead_id: 7 }
const NOW = { 'retry-after': '0' }
/** As they are written and sent: the Python client's tests have the same. */
const PHONES = [
  [' 555-0100', '555-0100'],
  ['(310) 555-1212', '310 555-1212'],
  ['310.555.1212', '310-555-1212'],
  ['+1 310 555 1212 x4', '+1 310 555 1212'],
  ['310/555/1212, Ext. 12', '310-555-1212'],
  ['+1\u00a0(310)\u00a0555\u20111212#7', '+1 310 555-1212'],
] as const

describe('the TypeScript client', () => {
  it('has the types of the API’s document: else run npm run clients', async () => {
    const file = 'src/clients/typescript/src/api.ts'
    expect(readFileSync(file, 'utf8')).toBe(await emit(document, file))
  })

  it('makes every call of the API, by the name of its operation', async () => {
    const paths: string[] = []
    const fetchNone: typeof fetch = async (...args) => {
      paths.push(new URL(new Request(...args).url).pathname)
      return Response.json({ success: true })
    }
    const options = { apiKey: 'prs_test_1', baseUrl: 'http://api.example/v1', fetch: fetchNone }
    const client = new Referrals(options) as unknown as Record<string, () => Promise<unknown>>
    for (const methods of Object.values(document.paths))
      for (const { operationId } of Object.values(methods)) await client[operationId]?.()
    expect(paths).toEqual(Object.keys(document.paths).map((path) => `/v1${path}`))
  })

  it('sends and answers what the reference says', async () => {
    const lead = { id: 7, first_name: 'Ada', created_at: '2026-11-21 20:57:56', my_own_at: 'x' }
    const api = await scriptedApi(answers(200, { success: true, data: lead }))
    const { data } = await api.client().getLead({ lead_id: 7 })
    expect(data).toEqual(lead)
    expect(timeOf(data.created_at)).toEqual(new Date('2026-11-21T20:57:56Z'))
    await api.client().updatePartnerInfo({ lead_id: 7, loan_product: 'FHA', branchCode: 'Oakland' })
    expect(api.requests.map(({ body }) => body)).toEqual([
      { lead_id: 7 },
      { lead_id: 7, loan_product: 'FHA', branchCode: 'Oakland' },
    ])
  })

  it('repeats a call whose answer is lost, refused for now or none, each time with the same Idempotency-Key', async () => {
    const api = await scriptedApi(
      dropped,
      answers(503, failure('SERVICE_UNAVAILABLE'), NOW),
      answers(429, failure('RATE_LIMITED'), NOW),
      answers(502, '<html>Bad Gateway</html>', NOW),
      answers(200, CREATED),
    )
    expect(await api.client().createLead(LEAD)).toEqual(CREATED)
    expect(api.requests).toHaveLength(5)
    expect(new Set(api.requests.map(({ key }) => key)).size).toBe(1)
    expect(api.requests[0]?.key).toMatch(/^[\da-f-]{36}$/)
    await api.client().createLead(LEAD, { idempotencyKey: 'loan-118' })
    expect(api.requests.at(-1)?.key).toBe('loan-118')
  })

  it('comes back when the API asks it to, but never without a pause', () => {
    const waits = [0, 3].map((retryAfter) => waitOf(1, { status: 503, retryAfter }, 0.5))
    expect(waits).toEqual([100, 3000])
  })

  it('does not repeat a call that is not idempotent', async () => {
    const api = await scriptedApi(answers(503, failure('SERVICE_UNAVAILABLE'), NOW))
    await expect(api.client().advanceClock({ lead_id: 7, days: 45 })).rejects.toThrow(ApiError)
    expect(api.requests).toHaveLength(1)
    const lost = await scriptedApi(dropped)
    await expect(lost.client().runScenario({ scenario: 'chatty_borrower' })).rejects.toThrow(NoAnswerError)
    expect(lost.requests).toHaveLength(1)
  })

  it('repeats a conflict only if it says when', async () => {
    const passes = await scriptedApi(
      answers(409, failure('CLOCK_MOVING'), NOW),
      answers(200, { success: true, data: {} }),
    )
    await passes.client().advanceClock({ lead_id: 7, days: 45 })
    expect(passes.requests).toHaveLength(2)
    const stays = await scriptedApi(answers(409, failure('NO_ENDPOINT')))
    await expect(stays.client().testEndpoint()).rejects.toMatchObject({
      code: 'NO_ENDPOINT',
      status: 409,
    })
    expect(stays.requests).toHaveLength(1)
  })

  it('throws a class for each code, with all that the API said', async () => {
    const [field, problem] = ['email', 'must be a valid email address']
    const fields = [{ field, problem }]
    const headers = { 'x-request-id': 'req_1' }
    const api = await scriptedApi(
      answers(400, failure('INVALID_PAYLOAD', { fields }), headers),
      answers(401, failure('AUTH_FAILED')),
      answers(418, failure('A_NEW_CODE')),
      answers(400, failure('INVALID_PAYLOAD', { next: '1-2-3-4' })),
      answers(429, failure('RATE_LIMITED'), { 'retry-after': '900' }),
    )
    const create = () => api.client().createLead(LEAD)
    const invalid = await create().catch((error: unknown) => error)
    expect(invalid).toBeInstanceOf(InvalidPayloadError)
    expect(invalid).toMatchObject({ code: 'INVALID_PAYLOAD', status: 400, requestId: 'req_1' })
    expect(invalid).toMatchObject({ fields: [{ field, problem }] })
    await expect(create()).rejects.toThrow(AuthFailedError)
    await expect(create()).rejects.toMatchObject({ name: 'ApiError', code: 'A_NEW_CODE' })
    await expect(api.client().listEvents({ after: 'x' })).rejects.toMatchObject({
      constructor: CursorLostError,
      cursor: '1-2-3-4',
    })
    // longer than the call’s deadline: the caller decides
    await expect(create()).rejects.toMatchObject({ constructor: RateLimitedError, retryAfter: 900 })
    expect(api.requests).toHaveLength(5)
  })

  it('treats a truncated answer as none, and says that a page is not the API’s', async () => {
    const json = { 'content-type': 'application/json' }
    const api = await scriptedApi(answers(200, '{"success":tr', json), answers(200, CREATED, json))
    await expect(api.client().createLead(LEAD)).resolves.toMatchObject({ lead_id: 7 })
    expect(new Set(api.requests.map(({ key }) => key)).size).toBe(1)
    const page = await scriptedApi(answers(200, '<html>Welcome</html>', { 'content-type': 'text/html' }))
    await expect(page.client().getLead({ lead_id: 7 })).rejects.toThrow(
      'had status 200 and was not the API’s',
    )
    expect(page.requests).toHaveLength(1)
  })

  it('waits for a certification until it has ended, or until the deadline', async () => {
    const state = (of: string) => answers(200, { success: true, data: { certification: { state: of } } })
    const api = await scriptedApi(state('running'), state('running'), state('passed'))
    await expect(api.client().certify({ accept_failures: true })).resolves.toEqual({
      certification: { state: 'passed' },
    })
    expect(api.requests.map(({ path, body }) => [path, body])).toEqual([
      ['/v1/certify-endpoint', { accept_failures: true }],
      ['/v1/get-endpoint', {}],
      ['/v1/get-endpoint', {}],
    ])
    const endless = await scriptedApi(state('running'))
    await expect(endless.client({ deadlineMs: 200 }).certify()).rejects.toThrow(
      'the certification has not ended within 200 ms',
    )
    const abort = new AbortController()
    const asked = endless.client().certify({}, { signal: abort.signal })
    abort.abort(new Error('no longer wanted'))
    await expect(asked).rejects.toThrow('no longer wanted')
  })

  it('sees that a certification whose answer was lost has ended already', async () => {
    const none = answers(409, failure('NO_CANDIDATE'))
    const passed = answers(200, { success: true, data: { certification: { state: 'passed' } } })
    const lost = await scriptedApi(dropped, none, passed)
    await expect(lost.client().certify()).resolves.toEqual({
      certification: { state: 'passed' },
    })
    // refused, so nothing was begun
    const refused = await scriptedApi(answers(429, failure('RATE_LIMITED'), NOW), none, passed)
    await expect(refused.client().certify()).rejects.toMatchObject({ code: 'NO_CANDIDATE' })
  })

  it('waits for events beyond what an attempt may take, and no attempt longer than it was told', async () => {
    const api = await scriptedApi(silent)
    const client = api.client({ timeoutMs: 30, deadlineMs: 30 })
    await expect(client.listEvents()).rejects.toThrow(/within \d{1,2} ms/)
    await expect(client.listEvents({ wait: 1 })).rejects.toThrow(/within \d{3,4} ms/)
  })

  it('ends quietly when its loop is stopped: while it waits, between attempts and within a page', async () => {
    const page = (count: number) =>
      answers(200, {
        success: true,
        data: Array.from({ length: count }, (_, index) => ({ event_name: 'x', cursor: `1-${index}` })),
        next: '1-9',
        has_more: false,
      })
    const steps = [silent, answers(503, failure('SERVICE_UNAVAILABLE'), { 'retry-after': '50' })] as const
    for (const step of steps) {
      const api = await scriptedApi(page(2), step)
      const stop = new AbortController()
      const cursors: string[] = []
      void api.until(2).then(() => stop.abort())
      for await (const { cursor } of api.client().events({ signal: stop.signal })) cursors.push(cursor)
      expect(cursors).toEqual(['1-0', '1-1'])
    }
    const api = await scriptedApi(page(3))
    const stop = new AbortController()
    const cursors: string[] = []
    for await (const { cursor } of api.client().events({ signal: stop.signal })) {
      cursors.push(cursor)
      stop.abort()
    }
    expect(cursors).toEqual(['1-0'])
    expect(api.requests).toHaveLength(1)
  })

  it('ends at its deadline, and at once when it is aborted', async () => {
    const api = await scriptedApi(silent)
    await expect(api.client({ deadlineMs: 50 }).getLead({ lead_id: 7 })).rejects.toThrow(
      /^\/get-lead: no answer within \d+ ms$/,
    )
    const abort = new AbortController()
    const asked = api.client().getLead({ lead_id: 7 }, { signal: abort.signal })
    await api.until(2)
    abort.abort(new Error('no longer wanted'))
    await expect(asked).rejects.toThrow('no longer wanted')
    await expect(api.client().getLead({ lead_id: 7 }, { signal: abort.signal })).rejects.toThrow(
      'no longer wanted',
    )
    expect(api.requests).toHaveLength(2)
  })

  it('says at once what is wrong with a key or an address', () => {
    const of = (apiKey: string | undefined, baseUrl: string | undefined) => () =>
      new Referrals({ apiKey, baseUrl })
    // the first is a variable that is not set
    for (const key of [undefined, '', 'sk_live_1', 'prs_test_', 'prs_test_1\n'])
      expect(of(key, 'https://api.example.com/v1')).toThrow('apiKey must begin with prs_test_ or prs_live_')
    for (const url of [undefined, 'api.example.com/v1', 'https://api.example.com'])
      expect(of('prs_test_1', url)).toThrow('baseUrl must be a URL that ends in /v1')
    const api = { apiKey: 'prs_test_1', baseUrl: 'https://api.example.com/v1' }
    for (const ms of [0, -1, NaN]) {
      expect(() => new Referrals({ ...api, timeoutMs: ms })).toThrow('timeoutMs must be more than 0')
      expect(() => new Referrals({ ...api, deadlineMs: ms })).toThrow('deadlineMs must be more than 0')
    }
  })

  it('writes phone numbers as the API takes them', () => {
    expect(PHONES.map(([written]) => phoneNumber(written))).toEqual(PHONES.map(([, plain]) => plain))
  })

  it('fails at once where no repeat would help', async () => {
    const api = await scriptedApi(answers(301, '', { location: 'https://api.example.com/v1/get-lead' }))
    for (const idempotencyKey of ['', 'loan 118', 'Kredit-№', 'x'.repeat(256)])
      await expect(api.client().createLead(LEAD, { idempotencyKey })).rejects.toThrow(
        'idempotencyKey must be 1 to 255 visible ASCII characters',
      )
    await expect(api.client().updatePartnerInfo({ lead_id: 7, endless: 1n })).rejects.toThrow('BigInt')
    expect(api.requests).toHaveLength(0)
    await expect(api.client().getLead({ lead_id: 7 })).rejects.toThrow('had status 301 and was not the API’s')
    expect(api.requests).toHaveLength(1)
  })

  it('reads lists page by page', async () => {
    const pages = [
      { success: true, data: [{ lead_id: 3 }, { lead_id: 2 }], next: 2 },
      { success: true, data: [{ lead_id: 1 }], next: null },
    ]
    const api = await scriptedApi(answers(200, pages[0]), answers(200, pages[1]))
    const ids: number[] = []
    for await (const { lead_id } of api.client().leads({ status: 'escrow_funded' })) ids.push(lead_id)
    expect(ids).toEqual([3, 2, 1])
    expect(api.requests.map(({ body }) => body)).toEqual([
      { status: 'escrow_funded' },
      { status: 'escrow_funded', after: 2 },
    ])
  })
})
