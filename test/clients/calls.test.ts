import { describe, expect, it } from '@jest/globals'
import { readFileSync } from 'node:fs'
import * as prettier from 'prettier'
import { calls } from '../../src/clients/typescript/src/api.ts'
import {
  ApiError,
  AuthFailedError,
  CursorLostError,
  errorClasses,
  InvalidPayloadError,
  NoAnswerError,
  RateLimitedError,
  Referrals,
} from '../../src/clients/typescript/src/index.ts'
import type { Document } from '../../src/clients/document.ts'
import { emit } from '../../src/clients/typescript/emit.ts'
import { answers, dropped, failure, scriptedApi, silent } from './scripted-api.ts'

const document = JSON.parse(readFileSync('docs/openapi.json', 'utf8')) as Document & {
  components: { schemas: { ErrorCode: { anyOf: { enum?: string[] }[] } } }
}
const LEAD = { firstName: 'Ada', lastName: 'Miller', email: 'ada@example.com', phone: '555-0100' }
const CREATED = { success: true, message: 'Lead created.', lead_id: 7 }
const NOW = { 'retry-after': '0' }

describe('the TypeScript client', () => {
  it('has the types of the API’s document: else run npm run clients', async () => {
    const file = 'src/clients/typescript/src/api.ts'
    const options = { ...(await prettier.resolveConfig(file)), filepath: file }
    expect(readFileSync(file, 'utf8')).toBe(await prettier.format(emit(document), options))
  })

  it('has a class for each code of an error', () => {
    const [{ enum: codes } = {}] = document.components.schemas.ErrorCode.anyOf
    expect(Object.keys(errorClasses).toSorted()).toEqual(codes?.toSorted())
    expect(new Set(Object.values(errorClasses)).size).toBe(codes?.length)
  })

  it('makes every call of the API', async () => {
    const paths = new Set<string>()
    const fetchOnce: typeof fetch = async (...args) => {
      paths.add(new URL(new Request(...args).url).pathname)
      return Response.json({ success: true, data: [], next: null })
    }
    const client = new Referrals({ apiKey: 'prs_test_1', baseUrl: 'http://api.example/v1', fetch: fetchOnce })
    const { leads, events, deliveries, endpoint, requests, sandbox } = client
    await client.ping()
    for (const group of [leads, events, deliveries, endpoint, requests, sandbox])
      for (const name of Object.getOwnPropertyNames(Object.getPrototypeOf(group))) {
        if (name === 'constructor' || name === 'follow') continue
        const answer = (group as unknown as Record<string, (...args: unknown[]) => unknown>)[name]?.(1, {})
        await (name === 'list' ? (answer as { all: () => Promise<unknown> }).all() : answer)
      }
    expect([...paths].toSorted()).toEqual(
      Object.values(calls)
        .map(({ path }) => `/v1${path}`)
        .toSorted(),
    )
  })

  it('writes what the API reads, and reads what it writes', async () => {
    const lead = {
      id: 7,
      first_name: 'Ada',
      created_at: '2026-11-21 20:57:56',
      my_own_at: '2026-11-21 20:57:56',
    }
    const api = await scriptedApi(answers(200, { success: true, data: lead }))
    expect(await api.client().leads.get(7)).toEqual({
      id: 7,
      firstName: 'Ada',
      createdAt: new Date('2026-11-21T20:57:56Z'),
      // a partner’s own field
      my_own_at: '2026-11-21 20:57:56',
    })
    await api.client().leads.update(7, { loanProduct: 'FHA', branchCode: 'Oakland', my_field: 'x' })
    expect(api.requests.map(({ body }) => body)).toEqual([
      { lead_id: 7 },
      { lead_id: 7, loan_product: 'FHA', branchCode: 'Oakland', my_field: 'x' },
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
    expect(await api.client().leads.create(LEAD)).toEqual({
      leadId: 7,
      partnerLeadId: undefined,
      ignoredFields: [],
      duplicateOf: undefined,
    })
    expect(api.requests).toHaveLength(5)
    expect(new Set(api.requests.map(({ key }) => key)).size).toBe(1)
    expect(api.requests[0]?.key).toMatch(/^[\da-f-]{36}$/)
    await api.client().leads.create(LEAD, { idempotencyKey: 'loan-118' })
    expect(api.requests.at(-1)?.key).toBe('loan-118')
  })

  it('does not repeat what would be done twice', async () => {
    const api = await scriptedApi(answers(503, failure('SERVICE_UNAVAILABLE'), NOW))
    await expect(api.client().sandbox.advanceClock(7, { days: 45 })).rejects.toThrow(ApiError)
    expect(api.requests).toHaveLength(1)
    const lost = await scriptedApi(dropped)
    await expect(lost.client().sandbox.runScenario({ scenario: 'chatty_borrower' })).rejects.toThrow(
      NoAnswerError,
    )
    expect(lost.requests).toHaveLength(1)
  })

  it('repeats a conflict only if it says when', async () => {
    const passes = await scriptedApi(
      answers(409, failure('CLOCK_MOVING'), NOW),
      answers(200, { success: true, data: {} }),
    )
    await passes.client().sandbox.advanceClock(7, { days: 45 })
    expect(passes.requests).toHaveLength(2)
    const stays = await scriptedApi(answers(409, failure('NO_ENDPOINT')))
    await expect(stays.client().endpoint.test()).rejects.toMatchObject({
      name: 'NoEndpointError',
      status: 409,
    })
    expect(stays.requests).toHaveLength(1)
  })

  it('throws a class for each code, with all that the API said', async () => {
    const fields = [{ field: 'email', problem: 'must be a valid email address' }]
    const headers = { 'x-request-id': 'req_1' }
    const api = await scriptedApi(
      answers(400, failure('INVALID_PAYLOAD', { fields }), headers),
      answers(401, failure('AUTH_FAILED')),
      answers(418, failure('A_NEW_CODE')),
      answers(400, failure('INVALID_PAYLOAD', { next: '1-2-3-4' })),
      answers(429, failure('RATE_LIMITED'), { 'retry-after': '900' }),
    )
    const create = () => api.client().leads.create(LEAD)
    const invalid = await create().catch((error: unknown) => error)
    expect(invalid).toBeInstanceOf(InvalidPayloadError)
    expect(invalid).toMatchObject({ code: 'INVALID_PAYLOAD', status: 400, requestId: 'req_1', fields })
    await expect(create()).rejects.toThrow(AuthFailedError)
    await expect(create()).rejects.toMatchObject({ name: 'ApiError', code: 'A_NEW_CODE' })
    await expect(api.client().events.page({ after: 'x' })).rejects.toMatchObject({
      constructor: CursorLostError,
      place: '1-2-3-4',
    })
    // longer than the call’s deadline: the caller decides
    await expect(create()).rejects.toMatchObject({ constructor: RateLimitedError, retryAfter: 900 })
    expect(api.requests).toHaveLength(5)
  })

  it('ends at its deadline, and at once when it is aborted', async () => {
    const api = await scriptedApi(silent)
    await expect(api.client({ deadlineMs: 50 }).leads.get(7)).rejects.toThrow(
      /^\/get-lead: no answer within \d+ ms$/,
    )
    const abort = new AbortController()
    const asked = api.client().leads.get(7, { signal: abort.signal })
    await api.until(2)
    abort.abort(new Error('no longer wanted'))
    await expect(asked).rejects.toThrow('no longer wanted')
    await expect(api.client().leads.get(7, { signal: abort.signal })).rejects.toThrow('no longer wanted')
    expect(api.requests).toHaveLength(2)
  })

  it('says at once what is wrong with a key or an address', () => {
    const of = (apiKey: string, baseUrl: string) => () => new Referrals({ apiKey, baseUrl })
    expect(of('sk_live_1', 'https://api.example.com')).toThrow(
      'apiKey must begin with prs_test_ or prs_live_',
    )
    for (const url of ['api.example.com/v1', 'https://api.example.com'])
      expect(of('prs_test_1', url)).toThrow('baseUrl must be a URL that ends in /v1')
  })

  it('reads lists page by page', async () => {
    const pages = [
      { success: true, data: [{ lead_id: 3 }, { lead_id: 2 }], next: 2 },
      { success: true, data: [{ lead_id: 1 }], next: null },
    ]
    const api = await scriptedApi(answers(200, pages[0]), answers(200, pages[1]))
    const ids: number[] = []
    for await (const { leadId } of api.client().leads.list({ status: 'escrow_funded' })) ids.push(leadId)
    expect(ids).toEqual([3, 2, 1])
    expect(api.requests.map(({ body }) => body)).toEqual([
      { status: 'escrow_funded', after: null },
      { status: 'escrow_funded', after: 2 },
    ])
  })
})
