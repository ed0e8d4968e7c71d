import { spawnSync } from 'node:child_process'
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { stringify } from 'yaml'
import { launch } from '../../src/embedded/launch.ts'
import { anyPort } from '../support/any-port.ts'
import { atEnd } from '../support/at-end.ts'
import { temporaryFolder } from '../support/folder.ts'
import { scaledRules } from './scaled-rules.ts'

export const RULES = 'docs/deploy/prometheus/alerts.yml'
/** A process answers within two seconds, also while PostgreSQL is away: that does not become shorter. */
const SCRAPE_SECONDS = 3
/** What a rule looks back for a value: five minutes by default. */
const LOOK_BACK_SECONDS = 300

export interface Target {
  job: 'referrals-api' | 'referrals-worker' | 'temporal-sdk'
  instance: string
  port: number
}

const LOOK_MS = 200

interface Sampled<Values> {
  result: ({ metric: Record<string, string> } & Values)[]
}

export const hasPrometheus = () => spawnSync('prometheus', ['--version']).error === undefined

/**
 * A Prometheus that reads the processes of a service, with the rules of alerts.yml.
 *
 * @param factor how much faster than in a deployment time passes for the rules.
 */
export async function startPrometheus(factor = 1) {
  const folder = temporaryFolder()
  const inFolder = (name: string) => path.join(folder, name)
  const port = await anyPort()
  const [scrape, rules, targetsFile] = ['prometheus.yml', 'alerts.yml', 'targets.json'].map(inFolder) as [
    string,
    string,
    string,
  ]
  writeFileSync(rules, scaledRules(readFileSync(RULES, 'utf8'), factor))
  const interval = `${SCRAPE_SECONDS}s`
  const config = {
    global: { scrape_interval: interval, scrape_timeout: interval, evaluation_interval: '1s' },
    rule_files: [rules],
    scrape_configs: [{ job_name: 'referrals', file_sd_configs: [{ files: [targetsFile] }] }],
  }
  writeFileSync(scrape, stringify(config))
  const observe = (targets: readonly Target[]) => {
    const groups = targets.map(({ job, instance, port: at }) => ({
      targets: [`127.0.0.1:${at}`],
      labels: { job, instance },
    }))
    // in one step: it is read as soon as it changes
    writeFileSync(`${targetsFile}.new`, JSON.stringify(groups))
    renameSync(`${targetsFile}.new`, targetsFile)
  }
  observe([])
  const { stop } = await launch({
    name: 'Prometheus',
    command: 'prometheus',
    args: [
      `--config.file=${scrape}`,
      `--storage.tsdb.path=${inFolder('data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
      `--query.lookback-delta=${Math.max(4 * SCRAPE_SECONDS, LOOK_BACK_SECONDS / factor)}s`,
    ],
    logFile: inFolder('prometheus.log'),
    readyLine: /Server is ready to receive web requests/,
  })
  atEnd(stop)

  async function get<Data>(call: string): Promise<Data> {
    const response = await fetch(`http://127.0.0.1:${port}/api/v1/${call}`)
    const { data, error } = (await response.json()) as { data: Data; error?: string }
    if (error !== undefined) throw new Error(`Prometheus: ${error} (${call})`)
    return data
  }

  return {
    url: `http://127.0.0.1:${port}`,

    /** Reads these processes from now on. */
    observe,

    /** The alerts that fire now, each once. */
    async firing(): Promise<string[]> {
      const { alerts } = await get<{ alerts: { state: string; labels: { alertname: string } }[] }>('alerts')
      return [...new Set(alerts.flatMap(({ state, labels }) => (state === 'firing' ? labels.alertname : [])))]
    },

    /** The series that an expression has now. @throws {Error} if it is none. */
    async query(expression: string) {
      const call = `query?query=${encodeURIComponent(expression)}`
      return (await get<Sampled<{ value: [number, string] }>>(call)).result
    },

    /** Resolves once each process was read, and no rule takes one for missing any more. */
    async untilRead(targets: readonly Target[]): Promise<void> {
      const isRead = async () => (await this.query('up == 1')).length >= targets.length
      while (!(await isRead()) || (await this.firing()).length > 0) await delay(LOOK_MS)
    },
  }
}

export type Prometheus = Awaited<ReturnType<typeof startPrometheus>>
