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
