import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { createLogger } from '../src/logger.ts'
import { createApiMetrics } from '../src/metrics/api.ts'
import { createWorkerMetrics } from '../src/metrics/worker.ts'

const root = path.join(import.meta.dirname, '..')
const coverage = readFileSync(path.join(root, 'docs/specification-coverage.md'), 'utf8')
/** The rows of its tables, without their heads. */
const rows = coverage.split('\n').filter((line) => /^\| (?!Rule |-)/.test(line))
const TEST = /`(test\/[^`]+)` “([^”]+)”/g

describe('docs/specification-coverage.md', () => {
  it('has a test, or a reason why there is none, in each row', () => {
    expect(rows.length).toBeGreaterThan(100)
    expect(rows.filter((row) => !row.includes('` “') && !row.includes('no test: '))).toEqual([])
  })

  it('names tests that exist, by their titles', () => {
    const named = [...coverage.matchAll(TEST)].map(([, file = '', title = '']) => ({ file, title }))
    expect(named).toHaveLength(coverage.split('“').length - 1)
    const missing = named.filter(({ file, title }) => !sourceOf(file).includes(`'${title}'`))
    expect(missing).toEqual([])
  })
})

describe('docs/operations.md', () => {
  it('lists each metric of API and worker with its type and labels, and no other', async () => {
    const worker = createWorkerMetrics(createLogger('silent', 'worker'), () =>
      Promise.reject(new Error('away')),
    )
    // its types leave the labels out
    const metrics = [createApiMetrics().registry, worker.registry].flatMap(
      (registry) => registry.getMetricsAsArray() as unknown as Metric[],
    )
    const registered = metrics
      .map(({ name, type, labelNames }) => `${name} ${type} ${labelNames.join(', ')}`.trim())
      .filter((line) => !/^(process|nodejs)_/.test(line))
    const operations = readFileSync(path.join(root, 'docs/operations.md'), 'utf8')
    const listed = [...operations.matchAll(/^\| `([a-z_]+)` +\| (counter|gauge|histogram) +\| ([^|]*)\|/gm)]
    const lines = listed.map(([, name, type, labels = '']) =>
      `${name} ${type} ${labels.replaceAll('`', '').trim()}`.trim(),
    )
    expect(lines.toSorted()).toEqual(registered.toSorted())
  })
})

interface Metric {
  name: string
  type: string
  labelNames: string[]
}

function sourceOf(file: string): string {
  const absolute = path.join(root, file)
  return existsSync(absolute) ? readFileSync(absolute, 'utf8') : ''
}
