import { execFile } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'
import { temporalNames } from '../config/temporal.ts'
import { postgresFolder, type Settings } from './data-directory.ts'
import { lastLine, type Launched } from './launch.ts'
import { freePort } from './ports.ts'
import { postgresUrl, startPostgres } from './postgres.ts'
import { findTemporal } from './temporal-program.ts'
import { startTemporal } from './temporal.ts'

export interface ServerOptions {
  dataDirectory: string
  environment: NodeJS.ProcessEnv
  settings: Settings
  report: (line: string) => void
  onSpawn: (launched: Launched) => void
}

/** PostgreSQL: the server that DATABASE_URL names, or one of ours, which answers once `start` has resolved. */
export async function planDatabase(options: ServerOptions) {
  const { dataDirectory, environment, settings, onSpawn } = options
  if (environment.DATABASE_URL) return { url: environment.DATABASE_URL, start: async () => {} }
  const { postgresPassword: password } = settings
  const logFile = path.join(dataDirectory, 'postgres.log')
  const folder = postgresFolder(dataDirectory)
  const port = await freePort(5433)
  return {
    // it has no TLS, which PGSSLMODE could ask for
    url: `${postgresUrl(port, password)}?sslmode=disable`,
    start: () => startPostgres({ folder, port, password, logFile, onSpawn }),
  }
}

/** Temporal: the server that TEMPORAL_ADDRESS names, or one of ours, which answers once `start` has resolved. */
export async function planTemporal(options: ServerOptions) {
  const { dataDirectory, environment, report, onSpawn } = options
  const { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace, TEMPORAL_UI_URL: ui } = environment
  if (address) {
    await setUp(environment)
    return { variables: variables(address, namespace || 'default', ui), start: async () => {} }
  }
  const program = await findTemporal({ environment, report })
  const port = await freePort(7233)
  const uiPort = await freePort(8233)
  const logFile = path.join(dataDirectory, 'temporal.log')
  const databaseFile = path.join(dataDirectory, 'temporal.db')
  return {
    variables: {
      ...withoutOthers,
      ...variables(`127.0.0.1:${port}`, 'default', `http://127.0.0.1:${uiPort}`),
    },
    start: () => startTemporal({ program, port, uiPort, databaseFile, logFile, environment, onSpawn }),
  }
}

/** What is set for another server does not count for ours. To the Temporal CLI, even an empty certificate means TLS. */
const withoutOthers = {
  ...Object.fromEntries(temporalNames.map((name) => [name, ''])),
  TEMPORAL_TLS: 'false',
}

/** How our processes, and the Temporal CLI, find Temporal; the Web UI of a given server may be unknown. */
function variables(address: string, namespace: string, ui?: string): Record<string, string> {
  return { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace, ...(ui && { TEMPORAL_UI_URL: ui }) }
}

/** A server that is not ours may lack the namespace and the search attributes. */
async function setUp(environment: NodeJS.ProcessEnv): Promise<void> {
  const entry = path.join(import.meta.dirname, '../setup-temporal.ts')
  const env = { ...environment, DATABASE_URL: '' }
  await promisify(execFile)(process.execPath, [entry], { env }).catch((error: unknown) => {
    throw new Error(lastLine(error), { cause: error })
  })
}
