import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { sql as raw } from 'kysely'
import { Referrals } from '../../src/clients/typescript/src/index.ts'
import { issueKey } from '../../src/core/partners/statements/keys.ts'
import { prepareApi } from '../api/api.ts'
import { LEAD } from '../support/leads.ts'
import { prepareService, type Service, type TestPartner } from '../support/service.ts'
import { inTime, untilInTime } from './in-time.ts'
import { holdRow } from '../support/row-lock.ts'
import { until } from '../support/until.ts'

const BORROWER = { firstName: 'Ada', lastName: 'Miller', email: 'ada@example.com', phone: '+1 555-0100' }

interface Answer {
  success: boolean
  message: string
  lead_id: number
  error: { code: string; message: string; fields?: { field: string; problem: string }[] }
}

interface Fault {
  fault: string
  call: string | null
  active: boolean
  left: number
  happened: { at: string; request_id: string | null; lead_id: number | null }[]
  ends_at: string
}

describe('an injected fault', () => {
  let service: Service
  let apis: { port: number | undefined; metricsPort?: number | undefined }[]
  let partner: TestPartner
  let client: Referrals

  beforeAll(async () => {
    service = await prepareService()
    apis = await Promise.all([service.startApi({ METRICS_PORT: '0' }), service.startApi()])
    await service.startWorker()
  }, 60_000)

  async function begin(): Promise<void> {
    partner = await service.addPartner()
    client = new Referrals({ apiKey: partner.key, baseUrl: `${origin(0)}/v1` })
  }
  beforeEach(begin)

  const origin = (index: number) => `http://127.0.0.1:${apis[index]?.port}`

  interface Sent {
    api?: number
    key?: string
    headers?: Record<string, string>
    signal?: AbortSignal
  }

  const send = (call: string, body: object, { api = 0, key, headers, signal }: Sent = {}) =>
    fetch(`${origin(api)}/v1/${call}`, {
      method: 'POST',
      headers: {
        authorization: `Service-Key ${key ?? partner.key}`,
        'content-type': 'application/json',
        ...headers,
      },
      body: JSON.stringify(body),
      ...(signal && { signal }),
    })

  async function post(call: string, body: object, sent: Sent = {}) {
    const response = await send(call, body, sent)
    return { status: response.status, headers: response.headers, body: (await response.json()) as Answer }
  }

  const inject = async (fault: string, call?: string, more: object = {}) => {
    const { status, body } = await post('sandbox/inject-fault', { fault, ...(call && { call }), ...more })
    expect([status, body]).toEqual([200, { success: true, message: expect.any(String) }])
    return body.message
  }
  const list = async (sent: Sent = {}) =>
    ((await (await send('sandbox/get-faults', {}, sent)).json()) as { data: Fault[] }).data
  const leads = () => client.leads.list().all()

  it.each([
    ['rate_limited', 429, 'RATE_LIMITED', 'Too many requests. Try again in 1 second.'],
    [
      'unavailable',
      503,
      'SERVICE_UNAVAILABLE',
      'The service is temporarily unavailable. Try again in 1 second.',
    ],
    ['internal_error', 500, 'INTERNAL_ERROR', 'Something went wrong on our side.'],
  ])(
    '%s is answered as the real one, and the client makes the call again',
    async (fault, status, code, message) => {
      await inject(fault, 'create-lead', { times: 2 })
      const refused = await post('create-lead', LEAD)
      expect([refused.status, refused.body]).toEqual([status, { success: false, error: { code, message } }])
      expect(refused.headers.get('link')).toBe(`</docs/errors#${code}>; rel="help"`)
      expect(refused.headers.get('retry-after')).toBe(status === 500 ? null : '1')
      expect(refused.headers.get('ratelimit')).toBe(status === 429 ? '"default";r=0;t=1' : null)
      expect(await leads()).toHaveLength(0)
      const { leadId } = await client.leads.create(BORROWER)
      expect((await leads()).map((lead) => lead.leadId)).toEqual([leadId])
      const [used] = await list()
      expect(used).toMatchObject({ fault, call: 'create-lead', left: 0, active: false })
      expect(used?.happened.at(-1)).toMatchObject({
        request_id: refused.headers.get('x-request-id'),
        lead_id: null,
      })
    },
  )

  it('loses the answer of a call that was carried out, and the repeat gets the same lead', async () => {
    await inject('answer_lost', 'create-lead', { times: 2 })
    await expect(send('create-lead', LEAD, { headers: { 'idempotency-key': 'lost-1' } })).rejects.toThrow(
      'fetch failed',
    )
    const [first] = await until(async () => {
      const all = await leads()
      return all.length === 1 && all
    })
    const repeated = await client.leads.create(BORROWER, { idempotencyKey: 'lost-2' })
    expect((await leads()).map((lead) => lead.leadId)).toEqual([repeated.leadId, first?.leadId])
    const again = await post('create-lead', LEAD, { headers: { 'idempotency-key': 'lost-1' } })
    expect([again.body.lead_id, again.headers.get('idempotent-replayed')]).toEqual([first?.leadId, 'true'])
  })

  it('hangs two calls at a time, until their senders give up, and carries out none of them', async () => {
    await inject('hangs', 'create-lead', { times: 10 })
    const patience = new AbortController()
    let answered = 0
    const count = () => void (answered += 1)
    // all at once: none of them sees the others hang
    const calls = Array.from({ length: 10 }, () => send('create-lead', LEAD, { signal: patience.signal }))
    for (const call of calls) void call.then(count, () => undefined)
    const ends = Promise.allSettled(calls)
    await until(async () => answered === 8)
    expect((await post('create-lead', LEAD)).status).toBe(200)
    expect((await list())[0]?.left).toBe(8)
    patience.abort()
    expect((await ends).filter(({ status }) => status === 'rejected')).toHaveLength(2)
    expect(await leads()).toHaveLength(9)
    // their places are free
    const hurried = new Referrals({
      apiKey: partner.key,
      baseUrl: `${origin(0)}/v1`,
      timeoutMs: 300,
      deadlineMs: 500,
    })
    await until(async () => {
      await hurried.leads.create(BORROWER).catch(() => undefined)
      return ((await list())[0]?.left ?? 8) < 8
    })
    await post('sandbox/clear-faults', {})
    expect((await post('create-lead', LEAD)).status).toBe(200)
  })

  it('hangs a call also while others of the key are under way, which take no place of its', async () => {
    await inject('internal_error', 'list-leads', { times: 2 })
    await inject('hangs', 'get-lead')
    const where = `partner_id = ${partner.id} and call = 'list-leads'`
    const held = await holdRow(service.sql, 'faults', where)
    const others = Promise.allSettled([post('list-leads', {}), post('list-leads', {})])
    const waiting = raw`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
    await until(async () => (await waiting.execute(service.sql)).rows.length === 2)
    const patience = new AbortController()
    const sent = send('get-lead', { lead_id: 1 }, { signal: patience.signal })
    const answered = sent.then(
      () => 'answered',
      () => 'given up',
    )
    const isTaken = async () => (await list()).some(({ fault, left }) => fault === 'hangs' && left === 0)
    expect(await Promise.race([answered, until(isTaken).then(() => 'hangs')])).toBe('hangs')
    await held.release()
    expect(await others).toMatchObject([{ value: { status: 500 } }, { value: { status: 500 } }])
    patience.abort()
    expect(await answered).toBe('given up')
  })

  it('happens as often as it says at all processes together, from the answer on', async () => {
    await post('create-lead', LEAD)
    await post('create-lead', LEAD, { api: 1 })
    await inject('unavailable', 'get-endpoint', { times: 3 })
    expect((await post('get-endpoint', {}, { api: 1 })).status).toBe(503)
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) => post('get-endpoint', {}, { api: index % 2 })),
    )
    expect(answers.filter(({ status }) => status === 503)).toHaveLength(2)
    expect(await list({ api: 1 })).toEqual(await list())
    // a second one is in effect at once
    const began = performance.now()
    await inject('unavailable', 'get-lead')
    expect(performance.now() - began).toBeGreaterThan(1000)
    const tookMs: number[] = []
    for (const call of ['get-endpoint', 'get-events', 'list-leads']) {
      const begun = performance.now()
      await inject('unavailable', call)
      tookMs.push(performance.now() - begun)
    }
    // at least one of them, on a busy machine
    expect(Math.min(...tookMs)).toBeLessThan(1000)
    expect((await post('list-leads', {}, { api: 1 })).status).toBe(503)
    expect((await post('list-leads', {}, { api: 1 })).status).toBe(200)
  })

  it('ends after an hour, or when it is cleared, and touches nobody else', async () => {
    await inject('internal_error', 'list-leads', { times: 1000 })
    const other = (await issueKey(service.orm.em.fork(), partner.id, 'sandbox')).key
    expect((await post('list-leads', {})).status).toBe(500)
    expect((await post('list-leads', {}, { key: other })).status).toBe(200)
    expect((await post('get-endpoint', {})).status).toBe(200)
    expect((await post('list-leads', {}, { headers: { 'x-requested-with': 'console' } })).status).toBe(200)
    expect(await list({ key: other })).toEqual([])
    await raw`update faults set injected_at = injected_at - interval '1 hour', ends_at = ends_at - interval '1 hour'
      where partner_id = ${partner.id}`.execute(service.sql)
    expect((await post('list-leads', {})).status).toBe(200)
    expect(await list()).toMatchObject([{ active: false, left: 999 }])
    await inject('internal_error', 'list-leads', { times: 2 })
    await inject('rate_limited', 'get-lead')
    expect((await post('list-leads', {})).status).toBe(500)
    expect((await post('sandbox/clear-faults', {})).body.message).toBe('2 faults are cleared.')
    expect((await post('list-leads', {})).status).toBe(200)
    expect((await post('sandbox/clear-faults', {})).body.message).toBe('0 faults are cleared.')
    expect((await list()).map(({ active }) => active)).toEqual([false, false])
  })

  it('lets a known Idempotency-Key expire', async () => {
    const keyed = (key: string) => post('create-lead', LEAD, { headers: { 'idempotency-key': key } })
    const first = await keyed('known')
    await inject('key_expired', 'create-lead')
    const unknown = await keyed('unknown')
    expect((await list())[0]).toMatchObject({ left: 1, happened: [] })
    const second = await keyed('known')
    expect(second.headers.get('idempotent-replayed')).toBeNull()
    expect(new Set([first, unknown, second].map(({ body }) => body.lead_id)).size).toBe(3)
    const third = await keyed('known')
    expect([third.body.lead_id, third.headers.get('idempotent-replayed')]).toEqual([
      second.body.lead_id,
      'true',
    ])
    expect((await list())[0]).toMatchObject({ left: 0, happened: [{ lead_id: null }] })
  })

  it(
    'leaves out a score update, and the next comes at its own date',
    untilInTime(begin, async () => {
      const advance = (leadId: number) =>
        inTime(
          () => client.sandbox.advanceClock(leadId, { days: 100 }),
          ({ status }) => status,
        )
      const { leadId } = await client.leads.create(BORROWER)
      await client.sandbox.simulate(leadId, { eventName: 'escrow_funded' })
      expect(await inject('no_scores', undefined, { times: 2 })).toMatch(
        /^no_scores happens to the next 2 score updates, until /,
      )
      const { happened, next } = await advance(leadId)
      expect(happened.filter(({ what }) => what === 'event')).toEqual([])
      expect(next?.what).toBe('score_update')
      const later = await advance(leadId)
      expect(later.happened.filter(({ what }) => what === 'event')).toHaveLength(2)
      const periods = await service.sql
        .selectFrom('lead_events')
        .select('score_period')
        .where('lead_id', '=', leadId)
        .where('event_name', '=', 'score_update')
        .orderBy('position')
        .execute()
      expect(periods.map((row) => row.score_period)).toEqual([3, 4])
      expect((await list())[0]).toMatchObject({
        fault: 'no_scores',
        call: null,
        left: 0,
        happened: [{ lead_id: leadId, request_id: null }, { lead_id: leadId }],
      })
    }),
  )

  it('backdates a milestone, never before the lead’s last event', async () => {
    const { leadId } = await client.leads.create(BORROWER)
    const { now } = await client.sandbox.advanceClock(leadId, { days: 30 })
    const dateOf = async (daysAgo: number, key?: string) => {
      const sent = { eventName: 'client_engaged_in_chat', daysAgo } as const
      const options = key === undefined ? {} : { idempotencyKey: key }
      const { events } = await client.sandbox.simulate(leadId, sent, options)
      return {
        recorded: events[0]?.recorded,
        days: Math.round((Number(now) - Number(events[0]?.createdAt)) / 86_400_000),
      }
    }
    expect(await dateOf(10)).toEqual({ recorded: true, days: 10 })
    expect(await dateOf(20)).toEqual({ recorded: true, days: 10 })
    expect(await dateOf(5, 'same')).toEqual({ recorded: true, days: 5 })
    expect(await dateOf(5, 'same')).toEqual({ recorded: false, days: 5 })
    const several = [{ eventName: 'contract_signed', daysAgo: 2 }, { eventName: 'escrow_funded' }] as const
    const { events } = await client.sandbox.simulate(leadId, { events: [...several] })
    expect(
      events.map(({ createdAt }) => Math.abs(Math.round((Number(now) - Number(createdAt)) / 86_400_000))),
    ).toEqual([2, 0])
    const refused = await post('sandbox/simulate-event', {
      lead_id: leadId,
      events: [several[0]],
      days_ago: 1,
    })
    expect(refused.status).toBe(400)
  })

  it('is none of our failures in the figures', async () => {
    for (const [fault, status] of [
      ['internal_error', 500],
      ['unavailable', 503],
    ] as const) {
      await inject(fault, 'export-lead')
      expect((await post('export-lead', { lead_id: 1 })).status).toBe(status)
    }
    const figures = await (await fetch(`http://127.0.0.1:${apis[0]?.metricsPort}/metrics`)).text()
    expect(figures).toMatch(
      /referrals_api_faults_injected_total\{fault="internal_error",build="[^"]+"\} [1-9]/,
    )
    const failures = figures.match(/http_request_duration_seconds_count\{[^}]*status="5.*/g) ?? []
    // one of those at once may have been told to come back: a busy machine takes longer than a statement may
    expect(failures.filter((line) => !line.includes('status="503"') || line.includes('export-lead'))).toEqual(
      [],
    )
  })

  it.each([
    [{}, 'fault is required: it must be one of rate_limited, internal_error,'],
    [{ fault: 'unavailabel', call: 'ping' }, 'did you mean unavailable?'],
    [{ fault: 'unavailable' }, 'call is required with unavailable'],
    [{ fault: 'unavailable', call: 'create-led' }, 'did you mean create-lead?'],
    [{ fault: 'unavailable', call: 'ping' }, 'call must be one of create-lead, get-lead,'],
    [{ fault: 'hangs', call: 'sandbox/clear-faults' }, 'call must be one of'],
    [{ fault: 'key_expired', call: 'get-lead' }, 'call must be one of create-lead, '],
    [{ fault: 'no_scores', call: 'get-lead' }, 'call must be absent with no_scores'],
    [{ fault: 'hangs', call: 'get-lead', retry_after: 1 }, 'retry_after must be absent with hangs'],
    [{ fault: 'hangs', call: 'get-lead', times: 1001 }, 'times must be at most 1000'],
  ])('is refused as %j', async (body, message) => {
    const answer = await post('sandbox/inject-fault', body)
    expect([answer.status, answer.body.error.message]).toEqual([400, expect.stringContaining(message)])
    expect(await list()).toEqual([])
  })
})

it('happens to nobody in production, whatever the record has', async () => {
  const { app, sql, addPartner } = await prepareApi({ environment: 'production' })
  const { id, keyId, post } = await addPartner()
  await sql
    .insertInto('faults')
    .values({
      key_id: keyId,
      partner_id: id,
      fault: 'internal_error',
      call: 'list-leads',
      times: 1000,
      times_left: 1000,
      ends_at: new Date(Date.now() + 1_000_000),
      happened: raw`'[]'`,
      injected_at: new Date(0),
    })
    .execute()
  expect((await post('list-leads', {})).status).toBe(200)
  expect((await post('sandbox/inject-fault', { fault: 'hangs', call: 'list-leads' })).status).toBe(404)
  expect(app.hasDecorator('callsWithFaults')).toBe(false)
})
