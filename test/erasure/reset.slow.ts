import type { ServerResponse } from 'node:http'
import { beforeAll, describe, expect, it } from '@jest/globals'
import { sql as raw } from 'kysely'
import { requestReset } from '../../src/capabilities/erasure/statements/resets.ts'
import { holdLead } from '../../src/capabilities/erasure/statements/holds.ts'
import { keepArrival, provideSink } from '../../src/capabilities/sandbox/statements/sinks.ts'
import { cleared } from '../../src/cleared.ts'
import { type SandboxPartner, sandboxPartner } from '../sandbox/partner.ts'
import { LEAD, leadsOf } from '../support/leads.ts'
import type { ServiceProcess } from '../support/processes.ts'
import { prepareService, type Service } from '../support/service.ts'
import { until } from '../support/until.ts'
import { goesOnAfterKill } from './killed-reset.ts'

interface Reset {
  state: string
  requested_at: string
  finished_at: string | null
  leads: number
  leads_left: number
  leads_held: number
}

const CONFIRMED = { confirm: 'reset' }

describe('reset-sandbox', () => {
  let service: Service
  let worker: ServiceProcess
  let port: number | undefined

  beforeAll(async () => {
    service = await prepareService()
    const [api, started] = await Promise.all([service.startApi(), service.startWorker()])
    ;({ port } = api)
    worker = started
  }, 60_000)

  const add = () => sandboxPartner(service, port)
  const reset = async ({ post }: SandboxPartner) => {
    const { status, data, error } = await post('sandbox/reset-sandbox', CONFIRMED)
    return { status, error, data: data as object as Reset }
  }
  const progress = async ({ post }: SandboxPartner) =>
    (await post('sandbox/get-reset', {})).data as object as Reset
  const isDone = (partner: SandboxPartner) =>
    until(async () => {
      const data = await progress(partner)
      return data.state === 'done' && data
    })
  const call = async (partner: SandboxPartner, path: string) =>
    (await partner.post(path, {})).data as object as Record<string, unknown>
  const isRunning = async (workflowId: string) =>
    (await service.client.workflow.getHandle(workflowId).describe()).status.name === 'RUNNING'
  const journeyOf = async (partner: SandboxPartner, ...names: string[]) => {
    const lead = await partner.createLead()
    if (names.length > 0)
      await partner.simulate(lead, { events: names.map((name) => ({ event_name: name })) })
    return lead
  }
  const rowsOf = async (
    partner: SandboxPartner,
    table: 'sandbox_runs' | 'sinks' | 'resets' | 'endpoint_pings',
  ) => {
    const { rows } = await raw`select * from ${raw.table(table)} where ${
      table === 'endpoint_pings'
        ? raw`endpoint_id = (select id from endpoints where partner_id = ${partner.id})`
        : raw`partner_id = ${partner.id}`
    }`.execute(service.sql)
    return rows
  }

  /** A partner with leads in all states, all of which are at rest. */
  async function settled(partner: SandboxPartner) {
    const ready = await journeyOf(partner, 'contract_signed', 'escrow_funded', 'mortgage_ready')
    const advanced = await journeyOf(partner, 'escrow_funded')
    await partner.advance(advanced, { days: 50 })
    const closed = await journeyOf(partner, 'contract_signed')
    await partner.post('close-lead', { lead_id: closed, reason: 'withdrew' })
    const erased = await journeyOf(partner)
    await partner.post('erase-lead', { lead_id: erased })
    await until(
      async () =>
        (await partner.post('get-lead', { lead_id: closed })).data.status &&
        !(await isRunning(`lead-${closed}`)),
    )
    await until(async () => !(await isRunning(`erasure-${erased}`)))
    const keyed = await partner.post('create-lead', LEAD, { 'idempotency-key': 'loan-1' })
    await provideSink(service.sql, partner.id)
    const arrival = { headers: { 'webhook-id': 'evt_1' }, body: '{}', problem: null, status: 200, delayMs: 0 }
    await keepArrival(service.sql, partner.id, arrival)
    return { ready, advanced, closed, erased, keyed: keyed.lead_id }
  }

  /** All rows of all tables that are a partner's, as text and in order. */
  async function dump(partner: SandboxPartner): Promise<Map<string, string[]>> {
    const { rows: tables } = await raw<{ name: string }>`
      select tablename::text as name from pg_tables where schemaname = current_schema() order by 1`.execute(
      service.sql,
    )
    const ids = async (query: ReturnType<typeof raw<{ id: string }>>) =>
      new Set((await query.execute(service.sql)).rows.map(({ id }) => id))
    const of = {
      partner_id: new Set([String(partner.id)]),
      lead_id: await ids(raw`select id::text from leads where partner_id = ${partner.id}`),
      endpoint_id: await ids(raw`select id::text from endpoints where partner_id = ${partner.id}`),
      event_id: await ids(raw`select event_id as id from deliveries where partner_id = ${partner.id}`),
      key_id: await ids(raw`select id::text from api_keys where partner_id = ${partner.id}`),
    }
    const found = new Map<string, string[]>()
    for (const { name } of tables) {
      const { rows } = await raw<{ row: Record<string, unknown>; text: string }>`
        select to_jsonb(t) as row, t::text from ${raw.table(name)} t order by t::text`.execute(service.sql)
      const own = rows.filter(
        ({ row }) =>
          (name === 'partners' && row['id'] === partner.id) ||
          Object.entries(of).some(([column, known]) => known.has(String(row[column]))),
      )
      if (own.length > 0)
        found.set(
          name,
          own.map(({ text }) => text),
        )
    }
    return found
  }

  /** The same twice: requests and reads are noted a moment later. */
  async function atRest(partner: SandboxPartner) {
    let before = await dump(partner)
    return until(async () => {
      const after = await dump(partner)
      const isSame = JSON.stringify([...after]) === JSON.stringify([...before])
      before = after
      return isSame && after
    })
  }

  it('makes a rich partner as new, and leaves its neighbour as it was', async () => {
    const [rich, neighbour, fresh] = await Promise.all([add(), add(), add()])
    const [old] = await Promise.all([settled(rich), settled(neighbour)])
    // what waits at the neighbour waits for good
    await neighbour.post('pause-endpoint', {})
    await journeyOf(neighbour, 'contract_signed')

    // all that can be under way
    const hung: ServerResponse[] = []
    const [refused, hanging, moving, erasing, closing] = await Promise.all(
      Array.from({ length: 5 }, () => journeyOf(rich)),
    )
    await rich.endpoint.until((all) => new Set(all.map(({ event }) => event.data.lead_id)).size >= 10)
    rich.endpoint.answer = ({ event }, response) => {
      if (event.data.lead_id === refused) response.writeHead(500).end()
      else hung.push(response)
    }
    await rich.simulate(refused ?? 0, { event_name: 'contract_signed' })
    await rich.simulate(hanging ?? 0, { event_name: 'contract_signed' })
    const advancing = rich
      .simulate(moving ?? 0, { event_name: 'escrow_funded' })
      .then(() => rich.advance(moving ?? 0, { days: 365 }))
    const playing = rich.post('sandbox/run-scenario', { scenario: 'mortgage_ready_in_a_year' })
    await rich.post('set-endpoint', { url: `${rich.endpoint.url}/other` })
    await rich.post('certify-endpoint', {})
    await rich.post('test-endpoint', {})
    await until(async () => hung.length >= 5 && (await rowsOf(rich, 'sandbox_runs')).length === 2)
    const [lastEvent] = (await rich.post('get-events', { lead_id: old.ready })).data as object as {
      event_id: string
    }[]
    await rich.post('resend-webhook', { event_id: lastEvent?.event_id })
    await rich.post('close-lead', { lead_id: closing, reason: 'withdrew' })
    await rich.post('erase-lead', { lead_id: erasing })
    const before = await atRest(neighbour)
    expect([...before.keys()]).toEqual(
      expect.arrayContaining([
        'attempts',
        'closings',
        'erasures',
        'idempotency_keys',
        'lead_events',
        'sinks',
      ]),
    )

    expect(await rich.post('sandbox/reset-sandbox', { confirm: 'yes' })).toMatchObject({
      status: 400,
      error: {
        code: 'INVALID_PAYLOAD',
        message:
          'Invalid request: confirm must be "reset": it confirms that all your leads are erased, and your endpoint is removed.',
      },
    })
    const [first, second] = await Promise.all([reset(rich), reset(rich)])
    expect([first.status, second.status]).toEqual([200, 200])
    expect(first.data).toMatchObject({ state: 'running', finished_at: null, leads_held: 0 })
    expect(second.data.requested_at).toBe(first.data.requested_at)

    // from the answer on, all but the leads is as new, and what is made then stays
    const again = await rich.post('create-lead', LEAD, { 'idempotency-key': 'loan-1' })
    expect(again.lead_id).not.toBe(old.keyed)
    expect((await rich.post('sandbox/get-sink', {})).error?.code).toBe('NO_ENDPOINT')
    for (const response of hung) response.writeHead(500).end()
    const done = await isDone(rich)
    expect(done).toMatchObject({ leads_left: 0, requested_at: first.data.requested_at })
    expect(done.leads).toBeGreaterThanOrEqual(9)

    const { leads } = (await rich.post('list-leads', {})) as object as { leads?: unknown }
    expect(leads ?? (await call(rich, 'list-leads'))).toMatchObject([{ lead_id: again.lead_id }])
    for (const lead of [...Object.values(old), refused, hanging, moving, erasing, closing])
      expect((await rich.post('get-lead', { lead_id: lead })).status).toBe(404)
    const endpoint = await call(rich, 'get-endpoint')
    const asNew = await call(await emptied(fresh), 'get-endpoint')
    // what waits is of the new lead
    expect(endpoint).toMatchObject({ open_deliveries: 1, oldest_waiting: { lead_id: again.lead_id } })
    expect({ ...endpoint, since: '', open_deliveries: 0, oldest_waiting: null }).toEqual({
      ...asNew,
      since: '',
    })
    for (const table of ['sandbox_runs', 'sinks', 'endpoint_pings'] as const)
      expect([table, await rowsOf(rich, table)]).toEqual([table, []])
    await Promise.all([advancing, playing])

    // nothing of the old leads arrives any more, wherever webhooks go
    const arrived = rich.endpoint.arrivals.length
    rich.endpoint.answer = (_, response) => void response.writeHead(200).end()
    await rich.post('set-endpoint', { url: rich.endpoint.url })
    await rich.post('certify-endpoint', { accept_failures: true })
    await rich.simulate(again.lead_id, { event_name: 'contract_signed' })
    await rich.endpoint.until((all) =>
      all.some(({ event }) => event.data.lead_id === again.lead_id && event.data.sequence === 2),
    )
    const since = rich.endpoint.arrivals.slice(arrived).map(({ event }) => event.data.lead_id)
    expect(new Set(since.filter((lead) => lead !== undefined && lead !== null))).toEqual(
      new Set([again.lead_id]),
    )

    expect(Object.fromEntries(await dump(neighbour))).toEqual(Object.fromEntries(before))
  }, 120_000)

  /** Without the endpoint that tests give a partner. */
  async function emptied(partner: SandboxPartner) {
    await reset(partner)
    await isDone(partner)
    return partner
  }

  it('keeps leads that staff hold, and an endpoint’s pause by staff', async () => {
    const partner = await add()
    const [held, other] = [await journeyOf(partner), await journeyOf(partner)]
    await holdLead(service.sql, held, { reason: 'litigation', reference: null })
    await service.sql
      .updateTable('endpoints')
      .set({ state: 'paused', paused_by: 'staff', reason: 'staff' })
      .where('partner_id', '=', partner.id)
      .execute()
    expect((await reset(partner)).data).toMatchObject({ leads: 1, leads_held: 1 })
    await isDone(partner)
    expect((await partner.post('get-lead', { lead_id: held })).status).toBe(200)
    expect((await partner.post('get-lead', { lead_id: other })).status).toBe(404)
    expect(await call(partner, 'get-endpoint')).toMatchObject({ url: null, reason: 'our staff paused it' })
  }, 60_000)

  it('shows a partner that never did it, and lets it at most twenty times a day', async () => {
    const partner = await add()
    expect(await progress(partner)).toEqual({
      state: 'none',
      requested_at: null,
      finished_at: null,
      leads: 0,
      leads_left: 0,
      leads_held: 0,
    })
    for (let time = 0; time < 20; time += 1) await emptied(partner)
    expect(await reset(partner)).toMatchObject({ status: 429, error: { code: 'RATE_LIMITED' } })
  }, 120_000)

  it('erases a lead whose time is ahead of PostgreSQL’s', async () => {
    const partner = await add()
    const lead = await journeyOf(partner)
    await service.sql
      .updateTable('leads')
      .set({ created_at: raw<Date>`clock_timestamp() + interval '1 minute'` })
      .where('id', '=', lead)
      .execute()
    await reset(partner)
    const later = await journeyOf(partner)
    await isDone(partner)
    expect(await call(partner, 'list-leads')).toMatchObject([{ lead_id: later }])
  }, 60_000)

  it('frees the places of erasures', async () => {
    const partner = await add()
    for (let count = 0; count < 20; count += 1)
      await partner.post('erase-lead', { lead_id: await leadsOf(service, partner).commit() })
    const one = await journeyOf(partner)
    expect((await partner.post('erase-lead', { lead_id: one })).status).toBe(429)
    await emptied(partner)
    expect((await partner.post('erase-lead', { lead_id: await journeyOf(partner) })).status).toBe(200)
  }, 60_000)

  it('is started by the sweep if the start was lost', async () => {
    const partner = await add()
    const lead = await journeyOf(partner)
    await requestReset(service.sql, { partnerId: partner.id, requestedBy: 'key 1' }, cleared)
    await isDone(partner)
    expect((await partner.post('get-lead', { lead_id: lead })).status).toBe(404)
  }, 60_000)

  // the last, because Temporal gives others’ tasks to the killed worker for a while; the nightly one has more leads
  goesOnAfterKill({ size: 30, killedAt: 20 }, async () => ({ service, port, worker }))
})
