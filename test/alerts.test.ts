import { readFileSync } from 'node:fs'
import { describe, expect, it } from '@jest/globals'
import { parse } from 'yaml'
import { promises } from './chaos/alerts/promises.ts'
import { brokenIn } from './chaos/alerts/rehearse.ts'
import { scaledRules } from './prometheus/scaled-rules.ts'

interface Rule {
  alert: string
  expr: string
  for?: string
  labels: { severity: string }
  annotations: { summary: string; description: string; runbook: string }
}

const text = readFileSync('docs/deploy/prometheus/alerts.yml', 'utf8')
const rulesIn = (file: string) =>
  (parse(file) as { groups: { rules: Rule[] }[] }).groups.flatMap((group) => group.rules)
const rules = rulesIn(text)
const [, section = ''] = readFileSync('docs/operations.md', 'utf8').split('\n## Alerts\n')
const [runbooks = ''] = section.split('\n## ')
/** What each heading of the section is about. */
const told = [...runbooks.matchAll(/^### (.+)$/gm)].map(([, words = '']) => words)
const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\d -]/gu, '')
    .replaceAll(' ', '-')
const limits = readFileSync('docs/operations/metrics-and-limits.md', 'utf8')
const metrics = [...limits.matchAll(/^\| `(\w+)` +\| (?:counter|gauge|histogram)/gm)].map(([, name]) => name)
const reliability = readFileSync('docs/reliability.md', 'utf8')

describe('the alerts', () => {
  it.each(rules.map((rule) => [rule.alert, rule] as const))(
    '%s has a severity, words, metrics that exist, and a runbook',
    (_, { expr, labels, annotations }) => {
      expect(['page', 'ticket']).toContain(labels.severity)
      expect(told).toContain(annotations.summary)
      expect(annotations.description).toMatch(/\S.*\.$/)
      expect(annotations.runbook).toBe(`docs/operations.md#${anchorOf(annotations.summary)}`)
      const named = [...expr.matchAll(/\b(?:referrals|http)_\w+/g)].map(([name]) =>
        name.replace(/_(?:count|bucket)$/, ''),
      )
      expect(metrics).toEqual(expect.arrayContaining(named))
      expect(named.length > 0 || /\b(?:up|process_\w+|nodejs_\w+)\b/.test(expr)).toBe(true)
    },
  )

  it('have names of their own, and are all that operations.md explains', () => {
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length)
    expect(rules.map(({ annotations }) => annotations.summary)).toEqual(told)
  })

  it('fire for a pause by the service, and for none by people', () => {
    const { expr = '' } = rules.find(({ alert }) => alert === 'EndpointPausedOrWebhookGivenUp') ?? {}
    const [, kinds = ''] = /kind=~"([^"]+)"/.exec(expr) ?? []
    expect(kinds.split('|')).toEqual(['paused', 'given_up'])
  })

  it('tell of each promise, and each tells of one', () => {
    const [, promised = ''] = reliability.split('\n### What is checked\n')
    const [checked = ''] = promised.split('\n### ')
    const names = Array.from(checked.matchAll(/^\| ([A-Z][\w ]+?) +\| /gm), ([, name]) => name).filter(
      (name) => name !== 'Promise' && name !== 'The run itself',
    )
    const [, alerts = ''] = reliability.split('\n## Alerts\n')
    const [table = ''] = alerts.split('\n### ')
    const rows = Array.from(
      table.matchAll(/^\| ([A-Z][\w ]+?) +\| (.*`.*) \|$/gm),
      ([, name, cell = '']) => ({
        name,
        named: [...cell.matchAll(/`(\w+)`/g)].map(([, alert]) => alert),
      }),
    )
    expect(names.length).toBeGreaterThan(8)
    expect(rows.map(({ name }) => name)).toEqual(expect.arrayContaining(names))
    expect(new Set(rows.flatMap(({ named }) => named))).toEqual(new Set(rules.map(({ alert }) => alert)))
  })
})

describe('rehearsed alerts', () => {
  it('are those of the table in reliability.md', () => {
    const [, table = ''] = reliability.split('\n### What each fault fires\n')
    const rows = Array.from(table.matchAll(/^\| ([^|]+?) +\| ([^|]+?) +\| [^|]+\| \d+ s +\|$/gm)).map(
      ([, fault = '', cell = '']) => {
        const named = Array.from(cell.matchAll(/`(\w+)` (\d+)/g), ([, name = '', minutes]) => [
          name,
          Number(minutes),
        ])
        return [fault, Object.fromEntries(named)]
      },
    )
    expect(Object.fromEntries(rows)).toEqual(promises)
  })

  it('are broken when one is missing, late or not promised, or does not end', () => {
    const facts = { promised: { ApiIsGone: 5 }, fired: { ApiIsGone: 14_000 }, isClear: true }
    const limitOf = (minutes: number) => minutes * 3000
    const brokenWith = (change: object) => brokenIn({ ...facts, limitOf, ...change })
    expect(brokenWith({})).toEqual([])
    expect(brokenWith({ fired: {} })).toEqual(['ApiIsGone did not fire'])
    expect(brokenWith({ fired: { ApiIsGone: 16_000 } })).toEqual(['ApiIsGone fired late'])
    expect(brokenWith({ fired: { ApiIsGone: 9000, ApiFails: 1 } })).toEqual([
      'ApiFails fired, and is not promised',
    ])
    expect(brokenWith({ isClear: false })).toEqual(['something still fires'])
  })

  const scaled = rulesIn(scaledRules(text, 20))
  const scaledOf = (name: string) => scaled.find(({ alert }) => alert === name)

  it('are the same, and sooner', () => {
    expect(scaled.map(({ alert, annotations }) => ({ alert, annotations }))).toEqual(
      rules.map(({ alert, annotations }) => ({ alert, annotations })),
    )
    expect(scaledOf('WebhooksAreLate')).toMatchObject({
      expr: 'max(referrals_delivery_oldest_due_seconds) > 15',
      for: '30000ms',
    })
    expect(scaledOf('LoopHasStopped')?.expr).toMatch(/> 3 \* max .* \+ 15$/)
    expect(scaledOf('ApiFails')?.expr).toMatch(/\[15000ms\]\)\) > 0\.01 and /)
  })

  it('keep what is no time', () => {
    for (const name of [
      'CertificateEnds',
      'ClockIsWrong',
      'WorkflowsFail',
      'ApiCannotUsePostgres',
      'BuildsDiffer',
    ])
      expect(scaledOf(name)?.expr).toBe(rules.find(({ alert }) => alert === name)?.expr)
  })
})

describe('Prometheus’s configuration', () => {
  it('scrapes both programs, and has the alerts', () => {
    const configuration = readFileSync('docs/deploy/prometheus/prometheus.yml', 'utf8')
    const { rule_files: files, scrape_configs: jobs } = parse(configuration) as {
      rule_files: string[]
      scrape_configs: { job_name: string }[]
    }
    expect(files).toEqual(['alerts.yml'])
    expect(jobs.map((job) => job.job_name)).toEqual(['referrals-api', 'referrals-worker'])
    expect(section).toContain('(deploy/prometheus/prometheus.yml)')
  })
})
