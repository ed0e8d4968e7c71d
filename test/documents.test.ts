import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from '@jest/globals'
import type { CommanderError } from 'commander'
import { createUnknownErasures } from '../src/capabilities/erasure/unknown-erasures.ts'
import { overdueErasures } from '../src/capabilities/erasure/worker.ts'
import { forRequests } from '../src/capabilities/requests/api.ts'
import { createRetentionMetrics } from '../src/capabilities/retention/metrics.ts'
import type { Sql } from '../src/core/database/orm.ts'
import { errorHelp } from '../src/core/http/error-help.ts'
import { errorCatalogue } from '../src/core/http/errors.ts'
import { certificationChecks } from '../src/capabilities/self-service/decisions/certification.ts'
import { milestoneNames, milestones } from '../src/core/leads/decisions/milestones.ts'
import { closeReasonNames, erasureReasonNames, holdReasonNames } from '../src/core/leads/decisions/reasons.ts'
import { RETRY_DELAYS_MS } from '../src/core/deliveries/decisions/retry-schedule.ts'
import { createLogger } from '../src/logger.ts'
import { createApiMetrics } from '../src/metrics/api.ts'
import { readBuild } from '../src/config/build.ts'
import { endingKeys } from '../src/core/partners/worker.ts'
import { watchLoops } from '../src/metrics/loops.ts'
import { registerProcess } from '../src/metrics/process.ts'
import { registerReadiness } from '../src/metrics/readiness.ts'
import { registerBacklog } from '../src/metrics/backlog.ts'
import { registerApiDatabase, registerWorkerDatabase } from '../src/metrics/database.ts'
import { registerWaiting } from '../src/metrics/waiting.ts'
import { createWorkerMetrics } from '../src/metrics/worker.ts'
import { staffProgram } from '../src/staff/program.ts'
import { openApiDocument } from './api/openapi-document.ts'

const root = path.join(import.meta.dirname, '..')
const coverage = readFileSync(path.join(root, 'docs/specification-coverage.md'), 'utf8')
/** The rows of its tables, without their heads. */
const rows = coverage.split('\n').filter((line) => /^\| (?!Section |-)/.test(line))
/** A file, followed by titles of its tests; a long title ends with “…”. */
const TESTS = /`(test\/[^`]+)`((?:,? “[^”]+”)+)/g

describe('docs/specification-coverage.md', () => {
  it('has a test, or a reason why there is none, in each row', () => {
    expect(rows.length).toBeGreaterThan(80)
    expect(rows.filter((row) => !row.includes('` “') && !row.includes('no test: '))).toEqual([])
  })

  it('names tests that exist, by their titles', () => {
    const named = Array.from(coverage.matchAll(TESTS)).flatMap(([, file = '', titles = '']) =>
      Array.from(titles.matchAll(/“([^”]+)”/g), ([, title = '']) => ({ file, title })),
    )
    expect(named).toHaveLength(coverage.split('“').length - 1)
    const missing = named.filter(({ file, title }) => !sourceOf(file).includes(startOf(title)))
    expect(missing).toEqual([])
  })
})

/** How the source of a test writes its title: up to where it is cut, or to its end. */
const startOf = (title: string) => (title.endsWith('…') ? `'${title.slice(0, -1)}` : `'${title}'`)

describe('docs/operations', () => {
  it('lists the reasons of each command, and no other', () => {
    const listed = [
      ...sourceOf('docs/operations/partners-and-leads.md').matchAll(
        /^\| `lead (close|erase|hold)` +\|(.*)$/gm,
      ),
    ]
    const reasons = listed.map(([, verb, cell = '']) => [
      verb,
      [...cell.matchAll(/`([a-z_]+)`/g)].map(([, name]) => name),
    ])
    expect(reasons).toEqual([
      ['close', closeReasonNames],
      ['erase', erasureReasonNames],
      ['hold', holdReasonNames],
    ])
  })

  it('lists each metric of API and worker with its type, labels and unit, and no other', async () => {
    const log = createLogger('silent', 'worker')
    const sql = {} as Sql
    const worker = createWorkerMetrics(log)
    registerBacklog(worker.registry, () => Promise.reject(new Error('away')))
    createRetentionMetrics(worker.registry, log, [])
    createUnknownErasures(worker.registry, log)
    registerWorkerDatabase(worker.registry, async () => true)
    registerReadiness(worker.registry, async () => undefined)
    watchLoops(worker.registry)
    registerWaiting(worker.registry, sql, [endingKeys, overdueErasures])
    // its types leave the labels out
    const api = createApiMetrics()
    forRequests(api.registry)
    registerApiDatabase(api.registry, async () => true)
    registerProcess(api.registry, {
      build: readBuild({}),
      sql,
      pool: () => ({ used: 0, idle: 0, waiting: 0, limit: 0 }),
      reachTemporal: async () => {},
      certificates: {},
    })
    const metrics = [api.registry, worker.registry].flatMap(
      (registry) => registry.getMetricsAsArray() as unknown as Metric[],
    )
    const registered = metrics
      .map(({ name, type, labelNames }) => `${name} ${type} ${labelNames.join(', ')}`.trim())
      .filter((line) => !/^(process|nodejs)_/.test(line))
    const page = sourceOf('docs/operations/metrics-and-limits.md')
    const row =
      /^\| `([a-z_]+)` +\| (counter|gauge|histogram) +\| ([^|]*)\| ([^|]+?) +\| [^|]+\| \S[^|]*\|$/gm
    const listed = Array.from(page.matchAll(row), ([, name = '', type, labels = '', unit]) => {
      const line = `${name} ${type} ${labels.replaceAll('`', '').trim()}`.trim()
      return { name, line, unit }
    })
    expect(listed.map(({ line }) => line).toSorted()).toEqual(registered.toSorted())
    const inSeconds = listed.filter(({ unit = '' }) => unit.endsWith('seconds'))
    expect(inSeconds.map(({ name }) => name)).toEqual(
      listed.flatMap(({ name }) => (name.endsWith('_seconds') ? name : [])),
    )
  })

  it('quotes messages as the code has them', () => {
    const code = ['src', 'activities'].flatMap((folder) =>
      readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
        .filter((file) => file.endsWith('.ts'))
        .map((file) => sourceOf(`${folder}/${file}`)),
    )
    const [, section = ''] = sourceOf('docs/operations/bad-days.md').split('\n## Fix a worker\n')
    const [table = ''] = section.split('\n## ')
    const quoted = Array.from(table.matchAll(/^\| `([^`/]+)`/gm), ([, message = '']) => message)
    expect(quoted).toHaveLength(15)
    const parts = quoted.flatMap((message) => message.split('…').map((part) => part.trim())).filter(Boolean)
    expect(parts.filter((part) => !code.some((source) => source.includes(part)))).toEqual([])
  })
})

describe('README.md', () => {
  it('lists the milestones in their order, with their meanings, and which are sent', () => {
    const [, section = ''] = sourceOf('README.md').split('\n## Milestones\n')
    const [table = ''] = section.split('\n## ')
    const cells = Array.from(table.matchAll(/^\| `(\w+)` +\| (.*?) +\| (yes|no) /gm), ([, ...row]) => row)
    const listed = cells.map(([name, meaning, webhook]) => [name, meaning?.split(', every')[0], webhook])
    const known = milestoneNames.map((name) => [
      name,
      milestones[name].meaning,
      milestones[name].webhook ? 'yes' : 'no',
    ])
    expect(listed).toEqual(known)
  })
})

describe('docs/integrate.md', () => {
  it('lists every error of the API with its status', () => {
    const [, section = ''] = sourceOf('docs/integrate.md').split('\n## Handle errors\n')
    const [table = ''] = section.split('\n## ')
    const listed = Array.from(table.matchAll(/^\| (\d{3}) +\| (`[A-Z_`, ]+`)/gm), ([, status, codes = '']) =>
      codes.split(', ').map((code) => `${status} ${code.replaceAll('`', '')}`),
    ).flat()
    const known = Object.entries(errorCatalogue).map(([code, { status }]) => `${status} ${code}`)
    expect(listed.toSorted()).toEqual(known.toSorted())
  })

  it('explains every error as /docs/errors does', () => {
    const [, section = ''] = sourceOf('docs/integrate.md').split('\n## Handle errors\n')
    const cells = Array.from(
      section.matchAll(/^\| \d{3} +\| `(\w+)` +\| (.*?) +\| (.*?) +\|$/gm),
      ([, ...row]) => row,
    )
    const known = Object.entries(errorHelp).map(([code, { meaning, remedy }]) => [code, meaning, remedy])
    expect(cells).toEqual(known.map((row) => row.map((text) => text.replaceAll('’', "'"))))
  })
})

describe('docs/changes.md', () => {
  it('names every operation in its changelog', () => {
    const [, changelog = ''] = sourceOf('docs/changes.md').split('\n## Changelog\n')
    const calls = Object.keys(openApiDocument.paths).map((call) => call.split('/').at(-1) ?? '')
    const ofSpecification = ['ping', 'create-lead', 'get-lead', 'get-events', 'update-partner-info']
    const added = calls.filter((call) => !ofSpecification.includes(call))
    expect(added.filter((call) => !changelog.includes(`\`${call}\``))).toEqual([])
  })
})

describe('docs/webhooks.md', () => {
  it('shows docs/receiver.mjs', () => {
    expect(sourceOf('docs/webhooks.md')).toContain(`\`\`\`js\n${sourceOf('docs/receiver.mjs')}\`\`\``)
  })

  it('lists the waits of the retry schedule', () => {
    const [, waits = ''] = /The next ones follow (.+?) after/s.exec(sourceOf('docs/webhooks.md')) ?? []
    const unitsMs: Record<string, number> = { s: 1000, min: 60_000, h: 3_600_000 }
    const listed = Array.from(
      waits.matchAll(/(\d+) (s|min|h)\b/g),
      ([, count, unit = '']) => Number(count) * (unitsMs[unit] ?? 0),
    )
    expect([0, ...listed]).toEqual(RETRY_DELAYS_MS)
  })

  it('lists the checks of a certification, in their order', () => {
    const [, section = ''] = sourceOf('docs/webhooks.md').split('\n## Pass the certification\n')
    const listed = Array.from(section.matchAll(/^\| `(\w+)`/gm), ([, check = '']) => check)
    expect(listed.slice(0, certificationChecks.length)).toEqual(certificationChecks)
  })
})

describe('the documents for partners and operators', () => {
  it.each(milestoneNames)('name the milestone %s', (name) => {
    const documents = ['docs/webhooks.md', 'docs/operations/partners-and-leads.md']
    expect(documents.filter((file) => !sourceOf(file).includes(`\`${name}\``))).toEqual([])
  })
})

describe('every document', () => {
  const scripts = Object.keys(
    (JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as { scripts: object }).scripts,
  )
  const documents = ['README.md', ...filesIn('docs')].filter((file) => file.endsWith('.md'))

  const everything = documents.map(sourceOf).join('\n')

  it.each(documents)('%s links to files and headings that exist', (file) => {
    const links = Array.from(sourceOf(file).matchAll(/\]\((?!https?:)([^)]+)\)/g), ([, link = '']) => link)
    expect(links.filter((link) => !leadsSomewhere(file, link))).toEqual([])
  })

  const files = ['src', 'workflows', 'activities', 'test', 'docs', '.ci'].flatMap(filesIn)
  const names = new Set([...readdirSync(root), ...files.map((file) => path.basename(file))])

  it('names files and folders that exist', () => {
    const paths = Array.from(
      everything.matchAll(/(?:^ *|[`( ])((?:src|workflows|activities|test|docs|\.ci)\/[\w./-]*\w)/gm),
      ([, file = '']) => file,
    )
    expect(paths.length).toBeGreaterThan(300)
    expect(paths.filter((file) => !existsSync(path.join(root, file)))).toEqual([])
    const bare = Array.from(
      everything.matchAll(/`([\w.-]+\.(?:[cm]?[jt]s|md|yml|conf|cfg|json))`/g),
      ([, name = '']) => name,
    )
    expect(bare.length).toBeGreaterThan(10)
    expect(bare.filter((name) => !names.has(name))).toEqual([])
  })

  it('is where code, tests and settings say that it is', () => {
    const sources = [...files, 'docker-compose.yml', '.env.example'].filter((file) =>
      /\.([jt]s|yml|cfg|conf|example)$/.test(file),
    )
    const named = sources.flatMap((file) =>
      Array.from(sourceOf(file).matchAll(/\bdocs\/[\w./-]+\.md\b/g), ([page]) => page),
    )
    expect(named.length).toBeGreaterThan(10)
    expect(named.filter((page) => !documents.includes(page))).toEqual([])
  })

  it('names npm scripts that exist', () => {
    const named = Array.from(everything.matchAll(/npm run (?:-\S+ )*([a-z-]+)/g), ([, name = '']) => name)
    expect(named.length).toBeGreaterThan(20)
    expect(named.filter((name) => !scripts.includes(name))).toEqual([])
  })

  it('gives the staff command the arguments that it takes', async () => {
    const calls = Array.from(everything.matchAll(/npm run staff -- ([^`#\n]+)/g), ([, call = '']) => call)
    expect(calls.length).toBeGreaterThan(10)
    const refusals = await Promise.all(calls.map(refusalOf))
    expect(refusals.filter((refusal) => refusal !== undefined)).toEqual([])
  })
})

/** What the staff command finds wrong with a call of it; nothing of it is carried out. */
async function refusalOf(call: string): Promise<string | undefined> {
  const words = Array.from(call.matchAll(/"([^"]*)"|(\S+)/g), ([, quoted, word = '']) => quoted ?? word)
  const program = staffProgram(() => async () => {})
  program.configureOutput({ writeOut: () => {}, writeErr: () => {} })
  try {
    await program.parseAsync(
      words.map((word) => word.replace('PARTNER', '1')),
      { from: 'user' },
    )
    return undefined
  } catch (error) {
    const { code, message } = error as CommanderError
    return code === 'commander.helpDisplayed' ? undefined : `${call}: ${message}`
  }
}

function leadsSomewhere(file: string, link: string): boolean {
  const [target = '', heading] = link.split('#')
  const linked = target === '' ? file : path.join(path.dirname(file), target)
  if (heading === undefined) return existsSync(path.join(root, linked))
  const headings = Array.from(sourceOf(linked).matchAll(/^#+ (.+)$/gm), ([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(' ', '-')
      .replaceAll(/[^\w-]/g, ''),
  )
  return headings.includes(heading)
}

function filesIn(folder: string): string[] {
  return readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' }).map(
    (file) => `${folder}/${file}`,
  )
}

interface Metric {
  name: string
  type: string
  labelNames: string[]
}

function sourceOf(file: string): string {
  const absolute = path.join(root, file)
  return existsSync(absolute) ? readFileSync(absolute, 'utf8') : ''
}
