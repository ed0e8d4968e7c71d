import { readFileSync } from 'node:fs'
import { beforeAll, describe, expect, it } from '@jest/globals'
import { sql as raw } from 'kysely'
import { Registry } from 'prom-client'
import { readBuild } from '../../src/config.ts'
import { connect } from '../../src/database/orm.ts'
import { findDatabaseFault } from '../../src/database/readiness.ts'
import { sqlOf } from '../../src/database/sql.ts'
import { createLogger } from '../../src/observe/log.ts'
import { registerProcess } from '../../src/observe/process-metrics.ts'
import { createWorkerMetrics } from '../../src/observe/worker-metrics.ts'
import { compareNow } from '../support/compared.ts'
import type { Running } from '../support/in-process.ts'
import { leadsOf } from '../support/leads.ts'
import { scrape } from '../support/scrape.ts'
import { partnerCalls, prepareService, type Service, type TestPartner } from '../support/service.ts'
import { until } from '../support/until.ts'

const CANARIES = { first_name: 'Canaryfirst', last_name: 'Canarylast', email: 'canary@example.com' }

describe('metrics', () => {
  let service: Service
  let partner: TestPartner
  let api: Running
  let worker: Running
  let leads: ReturnType<typeof leadsOf>
  /** Before the worker was started, in seconds. */
  let startedAt = 0

  beforeAll(async () => {
    service = await prepareService({ METRICS_PORT: '0' })
    partner = await service.addPartner()
    leads = leadsOf(service, partner)
    startedAt = Date.now() / 1000
    ;[api, worker] = await Promise.all([service.startApi(), service.startWorker()])
  }, 60_000)

  const processes = () => Promise.all([scrape(api), scrape(worker)])
  /** Waits until a series of the worker has reached `count`, and then has it at exactly that. */
  const reaches = async (name: string, labels: Record<string, string>, count: number) => {
    await until(async () => ((await scrape(worker)).value(name, labels) ?? 0) >= count)
    expect((await scrape(worker)).value(name, labels)).toBe(count)
  }
  const attempts = 'referrals_webhook_attempts_total'

  it('of the API have requests by route pattern, and one series for what has no route', async () => {
    const calls = partnerCalls(api.port, partner.key)
    await calls.createLead(CANARIES)
    await calls.post('get-lead', { lead_id: 999_999 })
    for (const path of ['canary-one', 'canary-two?email=canary@example.com'])
      await fetch(`http://127.0.0.1:${api.port}/${path}`)
    await fetch(`http://127.0.0.1:${api.port}/${partner.key}`, { method: 'DELETE' })
    const metrics = await scrape(api)
    const counted = (labels: Record<string, string>) =>
      metrics.value('http_request_duration_seconds_count', labels)
    expect(counted({ method: 'POST', route: '/v1/create-lead', status: '200' })).toBe(1)
    expect(counted({ method: 'POST', route: '/v1/get-lead', status: '404' })).toBe(1)
    expect(counted({ method: 'any', route: 'none', status: '404' })).toBe(3)
    expect(metrics.text).not.toMatch(/canary/i)
    expect(metrics.text).not.toContain(partner.key)
  })

  it('name the build of each process on every series', async () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }
    const build = { version, build: version }
    for (const { text, value } of await processes()) {
      expect(value('referrals_build_info', build)).toBe(1)
      const series = text.match(/^\w+(?:\{[^}]*\})?(?= )/gm) ?? []
      expect(series.length).toBeGreaterThan(50)
      expect(series.filter((one) => !one.includes(`build="${build.build}"`))).toEqual([])
    }
  })

  it('tell that Temporal answers, and PostgreSQL, who waits for it, and how the clocks differ', async () => {
    // on a busy machine, an answer may come too late
    await until(async () =>
      (await processes()).every(
        ({ value }) => value('referrals_temporal_up') === 1 && value('referrals_database_up') === 1,
      ),
    )
    for (const { value } of await processes()) {
      expect(value('referrals_database_connections_waiting')).toBe(0)
      expect(Math.abs(value('referrals_database_clock_difference_seconds') ?? Infinity)).toBeLessThan(1)
      expect(value('process_resident_memory_bytes')).toBeGreaterThan(1_000_000)
    }
    await until(async () => (await scrape(worker)).value('referrals_worker_ready') === 1)
  })

  it.each(['comparison', 'retention'])('tell when a %s last ended', async (schedule) => {
    const ended = async () =>
      (await scrape(worker)).value('referrals_schedule_last_end_timestamp_seconds', { schedule }) ?? 0
    const before = await ended()
    expect(before).toBeGreaterThan(startedAt)
    await service.client.schedule.getHandle(schedule).trigger()
    await until(async () => (await ended()) > before)
  })

  it.each([
    ['livez', 200],
    ['readyz', 200],
    ['metrics', 200],
    ['metrics/more', 404],
  ])('are beside /%s, which answers %d whatever the query string', async (path, status) => {
    const answer = await fetch(`http://127.0.0.1:${worker.metricsPort}/${path}?probe=1`)
    expect(answer.status).toBe(status)
  })

  it('of the worker count what is delivered and recorded, with the time it took', async () => {
    await partner.endpoint.until((arrivals) => arrivals.length === 1)
    expect((await scrape(worker)).value('referrals_events_recorded_total')).toBeUndefined()
    const leadId = await leads.start()
    await service.referrals.signal(leadId, 'contract_signed')
    await leads.recorded(leadId, 'contract_signed')
    await reaches('referrals_events_recorded_total', { event: 'contract_signed' }, 1)
    await reaches(attempts, { result: 'delivered' }, 3)
    await reaches('referrals_webhook_attempt_duration_seconds_count', {}, 3)
    await reaches('referrals_event_delivery_seconds_count', {}, 3)
  })

  it('of the worker count a pause once, though many requests run into it, without what an endpoint answers', async () => {
    const before = partner.endpoint.arrivals.length
    const both = Promise.withResolvers<void>()
    partner.endpoint.answer = (_, response) => {
      if (partner.endpoint.arrivals.length >= before + 2) both.resolve()
      void both.promise.then(() => response.writeHead(410).end('canary@example.com'))
    }
    await Promise.all([leads.start(), leads.start()])
    await reaches(attempts, { result: 'http_4xx' }, 2)
    await compareNow(service)
    await reaches('referrals_endpoint_notices_total', { kind: 'paused' }, 1)
    await reaches('referrals_endpoints', { state: 'paused' }, 1)
    await reaches('referrals_deliveries_held', {}, 2)
    const { text } = await scrape(worker)
    for (const hidden of [/canary/i, /example\.com/, /lead_id/, /evt_/]) expect(text).not.toMatch(hidden)
    expect(text).not.toContain(partner.key)
    expect(text).not.toContain(partner.endpoint.url)
  })

  it('of the worker count a webhook that waits for a signing secret that cannot be decrypted', async () => {
    const other = await service.addPartner()
    const secrets = service.sql.updateTable('endpoint_secrets')
    await secrets.set((eb) => ({ ciphertext: raw<string>`${eb.ref('ciphertext')} || 'damaged'` })).execute()
    await leadsOf(service, other).start()
    // tried with the welcome, and in its schedule: there again after a minute
    await reaches('referrals_activity_failures_total', { activity: 'deliverWebhook' }, 2)
    await until(async () =>
      worker.output().includes('"msg":"a webhook waits: its signing secret cannot be decrypted"'),
    )
    expect(other.endpoint.arrivals).toEqual([])
  })
})

it.each(['failing', 'given_up', 'paused'] as const)('a notice %s is counted, and logged', async (kind) => {
  const lines: string[] = []
  const destination = { write: (line: string) => void lines.push(line) }
  const { registry, observe } = createWorkerMetrics(createLogger('info', 'worker', { destination }))
  observe.noticed({ kind, reason: 'gone', partnerId: 2 } as Parameters<typeof observe.noticed>[0])
  expect(await registry.metrics()).toContain(`referrals_endpoint_notices_total{kind="${kind}"} 1`)
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ level: 40, notice: kind, reason: 'gone', partner_id: 2 })
})

describe('the metrics of a process', () => {
  it('say that Temporal and PostgreSQL are away when neither answers, and leave out what cannot be read', async () => {
    const registry = new Registry()
    // nobody listens there
    const orm = await connect('postgresql://127.0.0.1:1/none')
    registerProcess(registry, {
      build: readBuild({ TEMPORAL_WORKER_BUILD_ID: '2026-11-21.1' }),
      orm,
      findDatabaseFault: () => findDatabaseFault(sqlOf(orm)),
      reachTemporal: () => Promise.reject(new Error('away')),
    })
    const text = await registry.metrics()
    expect(text).toMatch(/^referrals_temporal_up\{.*\} 0$/m)
    expect(text).toMatch(/^referrals_database_up\{.*\} 0$/m)
    expect(text).not.toMatch(/^referrals_database_clock\S* -?\d/m)
    expect(text).toContain('build="2026-11-21.1"')
  })
})
