import { execFile } from 'node:child_process'
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { createHash } from 'node:crypto'
import path from 'node:path'
import { promisify } from 'node:util'
import { searchAttributes } from '../domain/search-attributes.ts'
import type { Launched } from './launch.ts'
import { freePort } from './ports.ts'
import { unprivilegedOwner } from './postgres-files.ts'
import { postgresUrl, startPostgres } from './postgres.ts'
import { findTemporal } from './temporal-binary.ts'
import { knownSettings, saveSettings, type Settings } from './settings.ts'
import { startTemporal } from './temporal.ts'

/** Raised with every change of the workflows that does not replay the histories of before. */
export const HISTORIES = 3

export interface ServerOptions {
  dataDirectory: string
  environment: NodeJS.ProcessEnv
  settings: Settings
  report: (line: string) => void
  onSpawn: (launched: Launched) => void
}

export interface PlannedDatabase {
  url: string
  /** Nothing answers at `url` before this has ended. */
  start: () => Promise<unknown>
}

/** Where PostgreSQL is, or will be once it is started: the server in DATABASE_URL, else one of ours. */
export async function planDatabase(options: ServerOptions): Promise<PlannedDatabase> {
  const { dataDirectory, environment, settings, onSpawn } = options
  const { postgresPassword: password } = settings
  if (environment.DATABASE_URL) return { url: environment.DATABASE_URL, start: () => Promise.resolve() }
  const logFile = path.join(dataDirectory, 'postgres.log')
  const folder = postgresFolder(dataDirectory)
  const port = await freePort(5433)
  return {
    url: postgresUrl(port, password),
    start: () => startPostgres({ folder, port, password, logFile, onSpawn }),
  }
}

export interface TemporalAccess {
  address: string
  namespace: string
  /** Unknown for a server that is not ours. */
  ui?: string
}

export interface PlannedTemporal {
  access: TemporalAccess
  /** Resolves once it answers and has what the service needs. */
  ready: Promise<unknown>
  /** Whether the service has to wait for that: what it needs is still to be added. */
  comesFirst: boolean
}

/** Where Temporal is, or will be in a moment: the server in TEMPORAL_ADDRESS, else one that is started here. */
export async function provideTemporal(options: ServerOptions): Promise<PlannedTemporal> {
  const { dataDirectory, environment, report, onSpawn } = options
  if (environment.TEMPORAL_ADDRESS) {
    await setUp(environment)
    const { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace, TEMPORAL_UI_URL: ui } = environment
    const access = { address, namespace: namespace || 'default', ui: ui || undefined }
    return { access, ready: Promise.resolve(), comesFirst: false }
  }
  const program = await findTemporal({ environment, report })
  const port = await freePort(7233)
  const uiPort = await freePort(8233)
  const logFile = path.join(dataDirectory, 'temporal.log')
  const databaseFile = path.join(dataDirectory, 'temporal.db')
  const isNew = !existsSync(databaseFile)
  const access = { address: `127.0.0.1:${port}`, namespace: 'default', ui: `http://127.0.0.1:${uiPort}` }
  const server = { program, port, uiPort, databaseFile, logFile, environment, onSpawn }
  const ready = startTemporal(server).then(() => keepUpToDate(access, isNew, options))
  return { access, ready, comesFirst: !isNew && !isUpToDate(options.settings) }
}

function isUpToDate({ searchAttributes: known }: Settings): boolean {
  return known?.join() === Object.keys(searchAttributes).join()
}

/** Search attributes are made with the namespace; those that came with a later version have to be added. */
async function keepUpToDate(
  { address, namespace }: TemporalAccess,
  isNew: boolean,
  { dataDirectory, settings, environment }: ServerOptions,
): Promise<void> {
  if (isUpToDate(settings) && settings.histories === HISTORIES) return
  if (!isNew) await setUp({ ...environment, TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace })
  settings.searchAttributes = Object.keys(searchAttributes)
  settings.histories = HISTORIES
  saveSettings(dataDirectory, settings)
}

/** A server that is not ours may lack the namespace and the search attributes. */
async function setUp(environment: NodeJS.ProcessEnv): Promise<void> {
  const entry = path.join(import.meta.dirname, '../setup-temporal.ts')
  await promisify(execFile)(process.execPath, [entry], { env: { ...environment, DATABASE_URL: '' } }).catch(
    (error: unknown) => {
      const { stderr, message } = error as Error & { stderr?: string }
      throw new Error(stderr?.trim() || message, { cause: error })
    },
  )
}

/** The record of this very run, and what is the same for all data: PostgreSQL's programs. */
const kept = ['run.json', 'postgres']

/**
 * Removes everything that earlier starts have left, when it is asked for or when the data directory was
 * deleted: its password is gone then, and PostgreSQL's data, kept elsewhere under root, is of no use. When
 * PostgreSQL's data alone is gone, Temporal's goes too: leads are numbered from 1 again, and would be taken for
 * those whose workflows are still there. It goes as well when its workflows are of a version that does not go on with
 * this one: the worker starts them again from the record.
 *
 * @returns whether workflows of an older version were ended.
 */
export function beginAnew(dataDirectory: string, asked: boolean, environment: NodeJS.ProcessEnv): boolean {
  const settings = knownSettings(dataDirectory)
  const isKnown = settings !== undefined
  const data = path.join(postgresFolder(dataDirectory), 'data')
  if (asked || !isKnown) rmSync(data, { recursive: true, force: true })
  const outdated = readdirSync(dataDirectory).filter(isOutdated)
  for (const file of outdated) rmSync(path.join(dataDirectory, file), { recursive: true, force: true })
  return !asked && isKnown && outdated.length > 0 && settings.histories !== HISTORIES

  function isOutdated(name: string): boolean {
    if (asked) return !kept.includes(name)
    if (!name.startsWith('temporal.db')) return false
    return settings?.histories !== HISTORIES || (!environment.DATABASE_URL && !existsSync(data))
  }
}

/** Under root the data directory may be out of reach for the user that PostgreSQL runs as. */
export function postgresFolder(dataDirectory: string): string {
  if (!unprivilegedOwner()) return path.join(dataDirectory, 'postgres')
  const hash = createHash('sha256').update(dataDirectory).digest('hex').slice(0, 12)
  return path.join('/var/lib', `partner-referral-service-${hash}`)
}
