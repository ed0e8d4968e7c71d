import { beforeAll, describe, expect, it } from '@jest/globals'
import { sql as raw } from 'kysely'
import { advanceId } from '../../src/capabilities/sandbox/decisions/lead-clock.ts'
import { MOST_RUNS } from '../../src/capabilities/sandbox/decisions/sandbox-runs.ts'
import { scenarioId, webhooksOf } from '../../src/capabilities/sandbox/decisions/scenarios.ts'
import { TASK_QUEUE } from '../../src/core/temporal/names.ts'
import { atOnce } from '../support/at-once.ts'
import { LEAD, leadsOf } from '../support/leads.ts'
import { prepareService, type Service } from '../support/service.ts'
import { type SharedService, sharedService } from '../support/shared-service.ts'
import { temporalProxy } from '../support/temporal-proxy.ts'
import { until } from '../support/until.ts'
import { type SandboxPartner, sandboxPartner } from './partner.ts'

const CANCELED = 1
const UNAVAILABLE = 14
const FLOOD = 20
/** In ten seconds: most are the worker’s own. */
const MOST_TRANSACTIONS = 300
const SCENARIO = 'stalled_before_escrow'
const TAGGED = { ...LEAD, email: `ada+${SCENARIO}@example.com` }

describe('a scenario that create-lead asks for while Temporal is away', () => {
  let service: Service
  let partner: SandboxPartner
  let isAway: boolean
  let isCanceled: boolean

  beforeAll(async () => {
    service = await prepareService()
    const { TEMPORAL_ADDRESS: address } = service.environment
    const proxied = await temporalProxy(address, async (call) => {
      if (isAway) return UNAVAILABLE
      return isCanceled && call === 'GetWorkflowExecutionHistory' ? CANCELED : undefined
    })
    const { port } = await service.startApi({ TEMPORAL_ADDRESS: proxied })
    partner = await sandboxPartner(service, port)
  }, 60_000)

  const create = (key: string) => partner.post('create-lead', TAGGED, { 'idempotency-key': key })
  const describeScenario = (lead: number) =>
    service.client.workflow
      .getHandle(scenarioId(lead))
      .describe()
      .catch(() => undefined)

  it('is started by a repeat of the request, and by the sweep, and is played once', async () => {
    isAway = true
    const [first, second] = [await create('repeated'), await create('swept')]
    expect([first.status, second.status]).toEqual([200, 200])
    const asked = await partner.post('sandbox/run-scenario', { scenario: SCENARIO })
    expect([asked.status, asked.data]).toEqual([200, expect.objectContaining({ state: 'running' })])
    isAway = false
    expect((await create('repeated')).lead_id).toBe(first.lead_id)
    await until(async () => describeScenario(first.lead_id))
    await service.startWorker()
    for (const { lead_id: lead } of [first, second, asked.data]) {
      await partner.endpoint.until(() => partner.arrivals(lead).length === webhooksOf(SCENARIO).length)
      expect(await service.client.workflow.getHandle(scenarioId(lead)).result()).toBe('done')
    }
    const played = await describeScenario(first.lead_id)
    const names = await leadsOf(service, partner).names(first.lead_id)
    await create('repeated')
    // as by a server whose clock reaches the deadline first
    isCanceled = true
    const { status, data } = await partner.post('sandbox/run-scenario', { scenario: 'dropped_out' })
    isCanceled = false
    expect([status, data]).toEqual([200, expect.objectContaining({ state: 'running' })])
    expect(data.lead_id).toBeGreaterThan(asked.data.lead_id)
    expect((await describeScenario(first.lead_id))?.runId).toBe(played?.runId)
    // as by a start that comes late
    const late = { workflowId: scenarioId(first.lead_id), taskQueue: TASK_QUEUE }
    const args = [first.lead_id, SCENARIO, 1]
    expect(await service.client.workflow.execute('scenario', { ...late, args })).toBe('done')
    expect(await leadsOf(service, partner).names(first.lead_id)).toEqual(names)
  }, 90_000)
})

describe('of one partner', () => {
  const { begun, begin } = atOnce()
  let service: SharedService
  let port: number | undefined

  beforeAll(async () => {
    service = await sharedService()
    ;({ port } = service)
    // each waits for what takes seconds, and has partners of its own
    begin()
  }, 60_000)

  const scenariosOf = (partner: SandboxPartner) =>
    service.sql
      .selectFrom('sandbox_runs')
      .selectAll()
      .where('partner_id', '=', partner.id)
      .orderBy('id')
      .execute()

  /** A partner with as many scenarios under way as it may have, at an endpoint that hangs, and one more that waits. */
  async function busyPartner() {
    const partner = await sandboxPartner(service, port)
    const held = Promise.withResolvers<void>()
    partner.endpoint.answer = (_, response) => void held.promise.then(() => response.writeHead(200).end())
    const leads: number[] = []
    for (let count = 0; count < MOST_RUNS.scenario; count += 1) leads.push(await partner.createLead(SCENARIO))
    await until(async () => {
      const runs = await scenariosOf(partner)
      return runs.filter((run) => run.begun_at !== null).length === MOST_RUNS.scenario
    })
    leads.push(await partner.createLead(SCENARIO))
    return { partner, leads, answer: () => held.resolve() }
  }

  it(
    'a few scenarios are played at a time: run-scenario refuses more, and create-lead’s wait for their turn',
    begun(async () => {
      const { partner, leads, answer } = await busyPartner()
      const rows = await scenariosOf(partner)
      expect(rows.map((row) => [row.lead_id, row.begun_at !== null])).toEqual(
        leads.map((lead, index) => [lead, index < MOST_RUNS.scenario]),
      )
      const { status, error } = await partner.post('sandbox/run-scenario', { scenario: SCENARIO })
      expect([status, error]).toEqual([
        429,
        {
          code: 'RATE_LIMITED',
          message: expect.stringContaining('waits for its turn by itself. Try again in'),
        },
      ])
      const again = await partner.post('sandbox/run-scenario', { scenario: SCENARIO, lead_id: leads[0] })
      expect(again.status).toBe(429)
      const other = await sandboxPartner(service, port)
      expect((await other.post('sandbox/run-scenario', { scenario: SCENARIO })).status).toBe(200)
      answer()
      const webhooks = webhooksOf(SCENARIO).length
      for (const lead of leads) await partner.endpoint.until(() => partner.arrivals(lead).length >= webhooks)
      await until(async () => (await scenariosOf(partner)).length === 0)
    }),
    90_000,
  )

  it(
    'a scenario that somebody terminates makes room for the next',
    begun(async () => {
      const { partner, leads } = await busyPartner()
      const [first = 0] = leads
      await service.client.workflow.getHandle(scenarioId(first)).terminate()
      const past = raw<Date>`now() - interval '2 minutes'`
      const row = service.sql.updateTable('sandbox_runs').where('lead_id', '=', first)
      await row.set({ admitted_at: past, begun_at: past }).execute()
      await until(async () => {
        const runs = await scenariosOf(partner)
        return runs.length === MOST_RUNS.scenario && runs.every((run) => run.begun_at !== null)
      })
      expect((await scenariosOf(partner)).map((run) => run.lead_id)).toEqual(leads.slice(1))
    }),
    60_000,
  )

  it(
    'run-scenario says that a scenario is over if an operator terminates it meanwhile',
    begun(async () => {
      const partner = await sandboxPartner(service, port)
      const held = Promise.withResolvers<void>()
      partner.endpoint.answer = (_, response) => void held.promise.then(() => response.writeHead(200).end())
      const lead = await partner.createLead()
      const running = partner.post('sandbox/run-scenario', { scenario: SCENARIO, lead_id: lead })
      const handle = service.client.workflow.getHandle(scenarioId(lead))
      await until(async () => handle.describe().catch(() => undefined))
      await handle.terminate()
      const { status, data } = await running
      expect([status, data]).toEqual([200, expect.objectContaining({ state: 'closed' })])
      held.resolve()
    }),
    60_000,
  )

  it(
    'ten clocks move at a time, and one whose advance somebody terminates is not counted for long',
    begun(async () => {
      const partner = await sandboxPartner(service, port)
      const leads = await Promise.all(
        Array.from({ length: MOST_RUNS.advance + 1 }, () => partner.createLead()),
      )
      const [last = 0, ...others] = leads
      const places = others.map((lead_id) => ({
        lead_id,
        partner_id: partner.id,
        kind: 'advance' as const,
        admitted_at: new Date(),
      }))
      await service.sql.insertInto('sandbox_runs').values(places).execute()
      const { status, error } = await partner.advance(last, { days: 1 })
      expect([status, error]).toEqual([
        429,
        { code: 'RATE_LIMITED', message: expect.stringContaining('Wait until one has stopped') },
      ])
      // one that has a place keeps it
      expect((await partner.advance(others[0] ?? 0, { days: 1 })).status).toBe(200)
      expect((await partner.advance(last, { days: 1 })).status).toBe(200)
      const past = raw<Date>`now() - interval '2 minutes'`
      await service.sql
        .updateTable('sandbox_runs')
        .set({ admitted_at: past })
        .where('partner_id', '=', partner.id)
        .execute()
      await until(async () => (await scenariosOf(partner)).length === 0)
    }),
    60_000,
  )

  // by itself: it takes what the others would need
  it('a flood of scenarios is refused but for a few, and no other partner waits for it', async () => {
    const [partner, other] = await Promise.all([sandboxPartner(service, port), sandboxPartner(service, port)])
    const held = Promise.withResolvers<void>()
    partner.endpoint.answer = (_, response) => void held.promise.then(() => response.writeHead(200).end())
    const flood = Promise.all(
      Array.from({ length: FLOOD }, () => partner.post('sandbox/run-scenario', { scenario: SCENARIO })),
    )
    const others = await Promise.all(Array.from({ length: 10 }, () => other.createLead()))
    expect(others.every((lead) => lead > 0)).toBe(true)
    const statuses = (await flood).map(({ status }) => status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(MOST_RUNS.scenario)
    // one that would wait for the others for more than a second is refused, too
    const refused = statuses.filter((status) => status !== 200)
    expect([429, 503]).toEqual(expect.arrayContaining(refused))
    expect(refused).toContain(429)
    expect(await scenariosOf(partner)).toHaveLength(MOST_RUNS.scenario)
    held.resolve()
  }, 60_000)
})

it('an advance to the next retry waits for an endpoint that hangs, and hardly asks PostgreSQL', async () => {
  const service = await prepareService()
  const [{ port }] = await Promise.all([service.startApi(), service.startWorker()])
  const partner = await sandboxPartner(service, port)
  const lead = await partner.createLead()
  await partner.endpoint.until(() => partner.arrivals(lead).length === 1)
  const held = Promise.withResolvers<void>()
  partner.endpoint.answer = (_, response) => void held.promise.then(() => response.writeHead(500).end())
  await service.referrals.signal(lead, 'contract_signed')
  await partner.endpoint.until(() => partner.arrivals(lead).length === 2)
  const before = await transactionsOf(service)
  const { status, data } = await partner.advance(lead, { to: 'next_retry' })
  expect([status, data.status, data.happened]).toEqual([200, 'advancing', []])
  expect((await transactionsOf(service)) - before).toBeLessThan(MOST_TRANSACTIONS)
  held.resolve()
  await service.client.workflow.getHandle(advanceId(lead)).result()
  const attempts = partner.arrivals(lead).map((event) => event.data.sequence)
  expect(attempts).toEqual([1, 2, 2])
}, 60_000)

/** How many transactions have been committed, with those of a worker that has nothing to do. */
async function transactionsOf({ sql }: Service): Promise<number> {
  const { rows } = await raw<{ count: number }>`
    select xact_commit::int as count from pg_stat_database where datname = current_database()`.execute(sql)
  return rows[0]?.count ?? 0
}
