import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Launched } from '../../src/embedded/launch.ts'
import { startPostgres } from '../../src/embedded/postgres.ts'
import { findTemporal } from '../../src/embedded/temporal-program.ts'
import { startTemporal } from '../../src/embedded/temporal.ts'
import { anyPort } from './any-port.ts'
import { endSharedService, offerSharedService } from './global-shared.ts'
import { makeTemplate } from './template-database.ts'

export const folder = mkdtempSync(path.join(tmpdir(), 'referrals-test-'))
const started: Launched[] = []
/** It ends with the run. */
export const onSpawn = (launched: Launched) => void started.push(launched)

/**
 * Starts one PostgreSQL and one Temporal server for the whole run, unless TEST_DATABASE_URL or
 * TEST_TEMPORAL_ADDRESS names one that is running, where its user may create databases and roles; tests find both in
 * these variables.
 */
export default async function globalSetup(): Promise<void> {
  stopWhateverHappens()
  const { env } = process
  const [databaseUrl, temporalAddress] = await Promise.all([
    env.TEST_DATABASE_URL || startDatabase(),
    env.TEST_TEMPORAL_ADDRESS || startTemporalServer(),
  ])
  env.TEST_DATABASE_URL = databaseUrl
  env.TEST_TEMPORAL_ADDRESS = temporalAddress
  env.TEST_TEMPLATE_DATABASE = await makeTemplate(databaseUrl)
  env.TEST_SHARED_SERVICE = await offerSharedService()
}

async function startDatabase(): Promise<string> {
  const password = randomBytes(16).toString('hex')
  const logFile = path.join(folder, 'postgres.log')
  const port = await anyPort()
  const settings = [
    // every worker of jest has its own connections to its own databases
    'max_connections=400',
    // the data does not outlive the run
    'fsync=off',
    'synchronous_commit=off',
    'full_page_writes=off',
  ]
  const { url } = await startPostgres({ folder, port, password, logFile, settings, onSpawn })
  return url
}

async function startTemporalServer(): Promise<string> {
  // its garbage collector takes processor time, which is scarce here, to save memory, which is not
  const environment = { GOGC: '400', ...process.env }
  const program = await findTemporal(environment)
  const logFile = path.join(folder, 'temporal.log')
  const { address } = await startTemporal({
    program,
    port: await anyPort(),
    logFile,
    environment,
    onSpawn,
  })
  return address
}

/** Nothing here is worth a graceful end; what matters is that none is left, even after Ctrl-C. */
function stopWhateverHappens(): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1))
  process.once('exit', stopAll)
}

/** True when PostgreSQL is ours, and everything in it vanishes with it. */
export function ownsDatabase(): boolean {
  return started.some(({ name }) => name === 'PostgreSQL')
}

/** Ends the servers at once and removes their data. */
export function stopAll(): void {
  endSharedService()
  for (const { kill } of started.splice(0)) kill()
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
}
