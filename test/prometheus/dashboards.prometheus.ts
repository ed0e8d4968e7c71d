import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { beforeAll, describe, expect, it } from '@jest/globals'
import { measuredBuild } from '../../src/core/temporal/measured-build.ts'
import { anyPort } from '../support/any-port.ts'
import { certificateFiles } from '../support/certificate-files.ts'
import { partnerCalls, prepareService } from '../support/service.ts'
import { until } from '../support/until.ts'
import { type Dashboard, FOLDER } from './dashboards.ts'
import { type Prometheus, startPrometheus, type Target } from './prometheus.ts'

const files = readdirSync(FOLDER).filter((file) => file.endsWith('.json'))
const dashboards = files.map((file) => ({
  file,
  dashboard: JSON.parse(readFileSync(path.join(FOLDER, file), 'utf8')) as Dashboard,
}))
const panels = dashboards.flatMap(({ file, dashboard }) =>
  dashboard.panels.map((panel) => [file, panel.title, panel] as const),
)
/** Of Grafana's units: one that it does not know would be shown as text after the number. */
const UNITS = ['short', 's', 'd', 'bytes', 'reqps', 'percentunit', 'bool_yes_no']

describe('the dashboards', () => {
  let prometheus: Prometheus

  beforeAll(async () => {
    prometheus = await startPrometheus()
    const service = await prepareService({
      // nobody is there: its activity fails
      SCORE_PROVIDER_URL: `http://127.0.0.1:${await anyPort()}`,
    })
    const metrics = await Promise.all(['api', 'tls', 'worker', 'sdk'].map(anyPort))
    const [api, tls, worker, sdk] = metrics as [number, number, number, number]
    const [{ port }] = await Promise.all([
      service.startApi({ METRICS_PORT: String(api) }),
      service.startApi({ METRICS_PORT: String(tls), ...certificateFiles(90) }),
      service.startWorker({ METRICS_PORT: String(worker), TEMPORAL_METRICS_PORT: String(sdk) }),
    ])
    const targets: Target[] = [
      { job: 'referrals-api', instance: 'api-1', port: api },
      { job: 'referrals-api', instance: 'api-2', port: tls },
      { job: 'referrals-worker', instance: 'worker-1', port: worker },
      { job: 'temporal-sdk', instance: 'worker-1', port: sdk },
    ]
    prometheus.observe(targets)
    const partner = await service.addPartner()
    await service.sql
      .updateTable('api_keys')
      .set({ expires_at: new Date(Date.now() + 864e5) })
      .execute()
    const { createLead, post } = partnerCalls(port, partner.key)
    // each twice, with a reading between: a rate needs two
    const load = async () => {
      for (let count = 0; count < 3; count += 1) {
        const lead_id = await createLead({ email: `ada${count}@example.com` })
        for (const name of ['contract_signed', 'score_update']) await service.referrals.signal(lead_id, name)
      }
      await post('get-lead', { lead_id: 999_999 })
      // one fails
      partner.endpoint.answer = (_, response) => void response.writeHead(503).end()
      await createLead()
      const { length } = partner.endpoint.arrivals
      await partner.endpoint.until((arrivals) => arrivals.length > length)
      partner.endpoint.answer = (_, response) => void response.writeHead(200).end()
    }
    await load()
    await prometheus.untilRead(targets)
    await load()
    const read = 'rate(referrals_event_delivery_seconds_count[5m]) > 0'
    await until(async () => (await prometheus.query(read)).length > 0)
  }, 120_000)

  it('are three, each with a name of its own and a choice of the Prometheus', () => {
    expect(files).toEqual(['deliveries.json', 'service.json', 'workflows-and-workers.json'])
    expect(new Set(dashboards.map(({ dashboard }) => dashboard.uid)).size).toBe(files.length)
    for (const { dashboard } of dashboards)
      expect(dashboard.templating.list).toEqual([
        { name: 'datasource', label: 'Prometheus', type: 'datasource', query: 'prometheus' },
      ])
  })

  it.each(panels)(
    '%s: %s has a unit, and rows',
    async (_file, _title, { datasource, fieldConfig, targets }) => {
      expect(UNITS).toContain(fieldConfig.defaults.unit)
      expect(datasource).toEqual({ type: 'prometheus', uid: '${datasource}' })
      expect(targets.length).toBeGreaterThan(0)
      for (const { expr, legendFormat } of targets) {
        const rows = await until(async () => {
          const found = await prometheus.query(expr)
          return found.length > 0 && found
        })
        // a zero in place of none has no labels
        const metric = rows[0]?.metric ?? {}
        const isZero = Object.keys(metric).length === 0 && expr.includes('vector(0)')
        const named = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = '']) => label)
        expect(named.filter((label) => !isZero && !(label in metric))).toEqual([])
      }
    },
  )
  it('have beside them the figures that judge a build while it is rolled out', async () => {
    const [worker] = await prometheus.query('referrals_build_info{job="referrals-worker"}')
    const build = worker?.metric.build ?? ''
    const own = await measuredBuild(prometheus.url, build)
    expect(own.activities).toEqual(['recordScoreUpdate'])
    expect(own.attempts.delivered).toBeGreaterThan(0)
    expect(own.attempts.made).toBeGreaterThan(own.attempts.delivered)
    expect(own.attemptsOfOthers).toEqual({ made: 0, delivered: 0 })
    const other = await measuredBuild(`${prometheus.url}/`, 'another "build"')
    expect(other.activities).toEqual([])
    expect(other.attempts).toEqual({ made: 0, delivered: 0 })
    expect(other.attemptsOfOthers.made).toBeGreaterThan(other.attemptsOfOthers.delivered)
    await expect(measuredBuild(`${prometheus.url}/nowhere`, build)).rejects.toThrow(
      `Prometheus does not answer at ${prometheus.url}/nowhere`,
    )
  })
})
