import { readFileSync } from 'node:fs'
import { beforeAll, describe, expect, it } from '@jest/globals'
import { Registry } from 'prom-client'
import { readBuild } from '../../src/config.ts'
import { connect } from '../../src/database/orm.ts'
import { findDatabaseFault } from '../../src/database/readiness.ts'
import { sqlOf } from '../../src/database/sql.ts'
import { registerProcess } from '../../src/observe/process-metrics.ts'
import { sdkMetrics } from '../../src/observe/worker-metrics.ts'
import type { Running } from '../support/in-process.ts'
import { scrape } from '../support/scrape.ts'
import { partnerCalls, prepareService, type Service } from '../support/service.ts'
import { until } from '../support/until.ts'
import { makeCertificate } from '../webhooks/certificate.ts'

describe('each process', () => {
  let service: Service
  let api: Running
  let worker: Running
  /** Before the worker was started, in seconds. */
  let startedAt = 0

  beforeAll(async () => {
    service = await prepareService({ METRICS_PORT: '0' })
    startedAt = Date.now() / 1000
    ;[api, worker] = await Promise.all([service.startApi(), service.startWorker()])
  }, 60_000)

  const both = () => Promise.all([scrape(api), scrape(worker)])

  it('names its build on every series', async () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }
    const build = { version, build: version }
    for (const { text, value } of await both()) {
      expect(value('referrals_build_info', build)).toBe(1)
      const series = text.match(/^\w+(?:\{[^}]*\})?(?= )/gm) ?? []
      expect(series.length).toBeGreaterThan(50)
      expect(series.filter((one) => !one.includes(`build="${build.build}"`))).toEqual([])
    }
  })

  it('tells that Temporal answers, and PostgreSQL, who waits for it, and how the clocks differ', async () => {
    // on a busy machine, an answer may come too late
    await until(async () =>
      (await both()).every(
        ({ value }) => value('referrals_temporal_up') === 1 && value('referrals_database_up') === 1,
      ),
    )
    for (const { value } of await both()) {
      expect(value('referrals_database_connections_waiting')).toBe(0)
      expect(Math.abs(value('referrals_database_clock_difference_seconds') ?? Infinity)).toBeLessThan(1)
      expect(value('process_resident_memory_bytes')).toBeGreaterThan(1_000_000)
    }
    await until(async () => (await scrape(worker)).value('referrals_worker_ready') === 1)
  })

  it.each(['comparison', 'retention'])('tells when a %s last ended', async (schedule) => {
    const ended = async () =>
      (await scrape(worker)).value('referrals_schedule_last_end_timestamp_seconds', { schedule }) ?? 0
    const before = await ended()
    expect(before).toBeGreaterThan(startedAt)
    await service.client.schedule.getHandle(schedule).trigger()
    await until(async () => (await ended()) > before)
  })

  it('has no more series after more partners and leads', async () => {
    const series = async () => {
      const texts = await both()
      const all = texts.flatMap(({ text }) => text.match(/^\w+(?:\{[^}]*\})?(?= )/gm) ?? [])
      // Node's own have a series for each kind of thing that it waits for just now, and of garbage that it has collected
      return new Set(all.filter((one) => !/^nodejs_(?:active|gc)_/.test(one)))
    }
    const load = async (leads: number) => {
      const partner = await service.addPartner()
      const { createLead, post } = partnerCalls(api.port, partner.key)
      for (let count = 0; count < leads; count += 1) {
        const lead_id = await createLead({ email: `canary${count}@example.com` })
        await post('get-lead', { lead_id })
      }
      await partner.endpoint.until((arrivals) => arrivals.length >= leads)
    }
    await load(1)
    const before = await series()
    for (let partners = 0; partners < 3; partners += 1) await load(3)
    const after = await series()
    expect([...after].filter((one) => !before.has(one))).toEqual([])
  })
})

describe('the metrics of a process', () => {
  it('say that Temporal and PostgreSQL are away when neither answers, and nothing that cannot be known', async () => {
    const registry = new Registry()
    // nobody listens there
    const orm = await connect('postgresql://127.0.0.1:1/none')
    registerProcess(registry, {
      build: readBuild({ TEMPORAL_WORKER_BUILD_ID: '2026-11-21.1' }),
      orm,
      findDatabaseFault: () => findDatabaseFault(sqlOf(orm)),
      reachTemporal: () => Promise.reject(new Error('away')),
      certificates: {
        api: makeCertificate({ host: 'localhost', until: 20 }).cert,
        temporal_client: 'no certificate',
      },
    })
    const text = await registry.metrics()
    expect(text).toMatch(/^referrals_temporal_up\{.*\} 0$/m)
    expect(text).toMatch(/^referrals_database_up\{.*\} 0$/m)
    expect(text).not.toMatch(/^referrals_database_clock\S* -?\d/m)
    expect(text.match(/^referrals_certificate.*$/gm)).toEqual([
      expect.stringMatching(/certificate="api".* (19\.9|20)/),
    ])
    expect(text).toContain('build="2026-11-21.1"')
  })

  it.each([
    ['localhost', '127.0.0.1:9465'],
    ['::1', '[::1]:9465'],
  ])('of Temporal’s SDK listen on %s as %s', (METRICS_HOST, bindAddress) => {
    const settings = { HOST: '0.0.0.0', METRICS_HOST, TEMPORAL_METRICS_PORT: 9465 }
    expect(sdkMetrics(settings)).toMatchObject({ bindAddress })
  })
})
