import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { describe, expect, it } from '@jest/globals'
import { parse } from 'yaml'

interface Rule {
  alert: string
  expr: string
  for?: string
  labels: { severity: string }
  annotations: { summary: string }
}

const { groups } = parse(readFileSync('docs/deploy/prometheus/alerts.yml', 'utf8')) as {
  groups: { rules: Rule[] }[]
}
const rules = groups.flatMap((group) => group.rules)
const [, section = ''] = readFileSync('docs/operations.md', 'utf8').split('\n## Alerts\n')
const [text = ''] = section.split('\n## ')
/** What each paragraph of the page is about. */
const told = [...text.matchAll(/^- \*\*([^*]+)\*\*:/gm)].map(([, words]) => words)
const limits = readFileSync('docs/operations/metrics-and-limits.md', 'utf8')
const metrics = [...limits.matchAll(/^\| `(\w+)` +\| (?:counter|gauge|histogram)/gm)].map(([, name]) => name)

describe('the alerts', () => {
  it.each(rules.map((rule) => [rule.alert, rule] as const))(
    '%s has a severity, metrics that exist, and what to do first',
    (_, { expr, labels, annotations }) => {
      expect(['page', 'ticket']).toContain(labels.severity)
      expect(told).toContain(annotations.summary)
      const named = [...expr.matchAll(/\b(?:referrals|http)_\w+/g)].map(([name]) =>
        name.replace(/_count$/, ''),
      )
      expect(named.length).toBeGreaterThan(0)
      expect(metrics).toEqual(expect.arrayContaining(named))
    },
  )

  it('are all that operations.md explains', () => {
    expect(new Set(rules.map(({ annotations }) => annotations.summary))).toEqual(new Set(told))
  })

  it('fire for a pause by the service, and for none by people', () => {
    const { expr = '' } = rules.find(({ alert }) => alert === 'EndpointPausedOrWebhookGivenUp') ?? {}
    const [, kinds = ''] = /kind=~"([^"]+)"/.exec(expr) ?? []
    expect(kinds.split('|')).toEqual(['paused', 'given_up'])
  })
})

describe('Prometheus’s configuration', () => {
  const file = 'docs/deploy/prometheus/prometheus.yml'

  it('scrapes both programs, and has the alerts', () => {
    const { rule_files: files, scrape_configs: jobs } = parse(readFileSync(file, 'utf8')) as {
      rule_files: string[]
      scrape_configs: { job_name: string }[]
    }
    expect(files).toEqual(['alerts.yml'])
    expect(jobs.map((job) => job.job_name)).toEqual(['referrals-api', 'referrals-worker'])
    expect(section).toContain('(deploy/prometheus/prometheus.yml)')
  })

  it('is valid, with its rules, where promtool is there to say so', () => {
    const { error, stdout, stderr } = spawnSync('promtool', ['check', 'config', file], { encoding: 'utf8' })
    // a part of Prometheus, which is not everywhere
    const found = error === undefined ? `${stdout}${stderr}` : 'no promtool'
    expect(found).not.toContain('FAILED')
    expect(found).toMatch(new RegExp(`SUCCESS: ${rules.length} rules found|^no promtool$`))
  })
})
