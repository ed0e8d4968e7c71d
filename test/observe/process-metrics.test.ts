import { readFileSync } from 'node:fs'
import { beforeAll, describe, expect, it } from '@jest/globals'
import { Registry } from 'prom-client'
import { sdkMetrics } from '../../src/observe/worker-metrics.ts'
import { readBuild } from '../../src/config.ts'
import { registerProcess } from '../../src/observe/process-metrics.ts'
import type { Sql } from '../../src/database/sql.ts'
import { anyPort } from '../support/any-port.ts'
import { certificateFiles } from '../support/certificate-files.ts'
import { leadsOf } from '../support/leads.ts'
import { startMailServer } from '../support/mail-server.ts'
import type { Running } from '../support/in-process.ts'
import { scrape } from '../support/scrape.ts'
import { partnerCalls, prepareService, type Service } from '../support/service.ts'
import { until } from '../support/until.ts'

const COMMIT = '0123456789abcdef0123456789abcdef01234567'

describe('each process', () => {
  let service: Service
  let api: Running
  let worker: Running
  /** Before the worker was started, in seconds. */
  let startedAt = 0
  let mailServer: Awaited<ReturnType<typeof startMailServer>>

  beforeAll(async () => {
    mailServer = await startMailServer()
    service = await prepareService({
      METRICS_PORT: '0',
      GIT_COMMIT: COMMIT,
      SMTP_URL: mailServer.url,
      MAIL_ALLOW_DOMAINS: '*',
      // nobody is there
      SCORE_PROVIDER_URL: `http://127.0.0.1:${await anyPort()}`,
    })
    startedAt = Date.now() / 1000
    ;[api, worker] = await Promise.all([service.startApi(), service.startWorker()])
  }, 60_000)

  const both = () => Promise.all([scrape(api), scrape(worker)])

  it('tells which build it is', async () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }
    const build = { version, build: COMMIT.slice(0, 12), commit: COMMIT }
    for (const { value } of await both()) expect(value('referrals_build_info', build)).toBe(1)
  })

  it('names that build on every series', async () => {
    for (const { text } of await both()) {
      const series = text.match(/^\w+(?:\{[^}]*\})?(?= )/gm) ?? []
      expect(series.length).toBeGreaterThan(50)
      expect(series.filter((one) => !one.includes(`build="${COMMIT.slice(0, 12)}"`))).toEqual([])
    }
  })

  it('tells that Temporal answers, and PostgreSQL, who waits for it, and how the clocks differ', async () => {
    for (const { value } of await both()) {
      expect(value('referrals_temporal_up')).toBe(1)
      expect(value('referrals_database_up')).toBe(1)
      expect(value('referrals_database_connections_waiting')).toBe(0)
      expect(Math.abs(value('referrals_database_clock_difference_seconds') ?? Infinity)).toBeLessThan(1)
      expect(value('nodejs_eventloop_lag_p99_seconds')).toBeGreaterThan(0)
    }
    expect((await scrape(worker)).value('referrals_worker_ready')).toBe(1)
  })

  it('tells when a certificate ends', async () => {
    const left = (await scrape(await service.startApi(certificateFiles(20)))).value(
      'referrals_certificate_days_left',
      { certificate: 'api' },
    )
    expect(left).toBeGreaterThan(19)
    expect(left).toBeLessThan(21)
  })

  it.each(['comparison', 'retention'])('tells when a %s last ended', async (schedule) => {
    const ended = async () =>
      (await scrape(worker)).value('referrals_schedule_last_end_timestamp_seconds', { schedule }) ?? 0
    const before = await ended()
    expect(before).toBeGreaterThan(startedAt)
    await service.client.schedule.getHandle(schedule).trigger()
    await until(async () => (await ended()) > before)
  })

  it('counts mails and scores by outcome, the time to the delivery, and activities that fail', async () => {
    const partner = await service.addPartner()
    const leads = leadsOf(service, partner)
    const count = async (name: string, labels = {}) => (await scrape(worker)).value(name, labels) ?? 0
    const rises = (name: string, labels = {}) => until(async () => (await count(name, labels)) > 0)
    const leadId = await leads.start()
    await rises('referrals_mails_total', { outcome: 'sent' })
    expect(await count('referrals_mails_total', { outcome: 'refused' })).toBe(0)
    await rises('referrals_event_delivery_seconds_count')
    expect(await count('referrals_event_delivery_seconds_sum')).toBeLessThan(30)
    mailServer.refusing = true
    // the address has had its mail about leads of the first partner
    await leadsOf(service, await service.addPartner()).start()
    await rises('referrals_mails_total', { outcome: 'refused' })
    await service.referrals.signal(leadId, 'score_update')
    await rises('referrals_scores_total', { outcome: 'failed' })
    await rises('referrals_activity_failures_total', { activity: 'recordScoreUpdate' })
    expect(await count('referrals_activity_failures_total', { activity: 'deliverWebhook' })).toBe(0)
    mailServer.refusing = false
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
    for (let partners = 0; partners < 5; partners += 1) await load(4)
    const after = await series()
    expect([...after].filter((one) => !before.has(one))).toEqual([])
    expect(after.size).toBeGreaterThan(140)
  })
})

describe('the metrics of a process', () => {
  it('say that Temporal is away, and nothing of PostgreSQL, when neither answers', async () => {
    const registry = new Registry()
    registerProcess(registry, {
      build: readBuild({ TEMPORAL_WORKER_BUILD_ID: '2026-11-21.1', GIT_COMMIT: COMMIT }),
      sql: {} as Sql,
      pool: () => ({ used: 20, waiting: 3 }),
      reachTemporal: () => Promise.reject(new Error('away')),
      certificates: { api: 'no certificate' },
    })
    const text = await registry.metrics()
    expect(text).toMatch(/^referrals_temporal_up\{.*\} 0$/m)
    expect(text).toMatch(/^referrals_database_connections_waiting\{.*\} 3$/m)
    expect(text).not.toMatch(/^referrals_database_clock\S* -?\d/m)
    expect(text).not.toMatch(/^referrals_certificate\S* -?\d/m)
    expect(text).toContain(`build="2026-11-21.1",commit="${COMMIT}"`)
  })

  it('are of the version where nobody names the build', () => {
    expect(readBuild({}).build).toBe(readBuild({}).version)
  })

  it.each([
    ['localhost', '127.0.0.1:9465'],
    ['10.0.0.5', '10.0.0.5:9465'],
    ['::1', '[::1]:9465'],
  ])('of Temporal’s SDK listen on %s as %s', (METRICS_HOST, bindAddress) => {
    const settings = { HOST: '0.0.0.0', METRICS_HOST, TEMPORAL_METRICS_PORT: 9465 }
    expect(sdkMetrics(settings)).toMatchObject({ bindAddress })
    expect(sdkMetrics({ ...settings, TEMPORAL_METRICS_PORT: undefined })).toBeUndefined()
  })
})
