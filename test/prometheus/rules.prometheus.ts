import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { beforeAll, describe, expect, it } from '@jest/globals'
import { temporaryFolder } from '../support/folder.ts'
import { ruleCases, toTest } from './rule-cases.ts'

const RULES = 'docs/deploy/prometheus/alerts.yml'

const promtool = (...args: string[]) => {
  const { status, stdout, stderr } = spawnSync('promtool', args, { encoding: 'utf8' })
  return { status, said: `${stdout}${stderr}` }
}
const alerts = Array.from(readFileSync(RULES, 'utf8').matchAll(/- alert: (\w+)/g), ([, alert]) => alert)
/** JSON is YAML. */
const writeCase = (file: string, content: object) => writeFileSync(file, JSON.stringify(content))

describe('promtool', () => {
  let folder: string
  beforeAll(() => {
    folder = temporaryFolder()
  })

  it('finds the configuration and its rules valid', () => {
    const { said } = promtool('check', 'config', 'docs/deploy/prometheus/prometheus.yml')
    expect(said).not.toContain('FAILED')
    expect(said).toContain(`SUCCESS: ${alerts.length} rules found`)
  })

  it.each(ruleCases.map((each) => [each.name, each] as const))(
    'sees exactly the right alerts fire when %s',
    (_, each) => {
      const file = path.join(folder, 'case.yml')
      const evaluation = {
        rule_files: [path.resolve(RULES)],
        evaluation_interval: '1m',
        tests: [toTest(each)],
      }
      writeCase(file, evaluation)
      const { status, said } = promtool('test', 'rules', file)
      expect(said).toContain('SUCCESS')
      expect(status).toBe(0)
    },
  )

  it('sees the query that compares builds keep them apart after a restart in place, and count what occurred once', () => {
    const [, expr = ''] = /```promql\n([^]*?)```/.exec(readFileSync('docs/operations.md', 'utf8')) ?? []
    const series = (labels: string) => `http_request_duration_seconds_count{instance="api-1",${labels}}`
    const comparison = {
      interval: '1m',
      input_series: [
        { series: series('build="old",status="200"'), values: '0+60x60 stale' },
        { series: series('build="old",status="500"'), values: '0+20x60 stale' },
        { series: series('build="new",status="200"'), values: '_x61 9+10x30' },
        { series: series('build="new",status="500"'), values: '_x62 1x30' },
        { series: series('build="new",status="500",route="/v1/sandbox/sinks/:token"'), values: '_x62 7x30' },
      ],
      promql_expr_test: [
        {
          expr,
          eval_time: '64m',
          exp_samples: [
            { labels: '{build="old",status="200"}', value: 0.75 },
            { labels: '{build="old",status="500"}', value: 0.25 },
            { labels: '{build="new",status="200"}', value: 0.975 },
            { labels: '{build="new",status="500"}', value: 0.025 },
          ],
        },
      ],
    }
    const file = path.join(folder, 'builds.yml')
    writeCase(file, { evaluation_interval: '1m', tests: [comparison] })
    expect(promtool('test', 'rules', file).said).toContain('SUCCESS')
  })

  it('sees each alert fire', () => {
    expect(new Set(ruleCases.flatMap(({ fires }) => fires))).toEqual(new Set(alerts))
  })
})
