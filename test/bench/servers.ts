import { randomBytes, randomInt } from 'node:crypto'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { freePort, type Launched } from '../../src/embedded/launch.ts'
import { startPostgres } from '../../src/embedded/postgres.ts'
import { findTemporal } from '../../src/embedded/temporal-program.ts'
import { startTemporal } from '../../src/embedded/temporal.ts'
import { startService } from '../../src/embedded/sandbox.ts'
import { cpuSeconds } from './cpu.ts'

/** Everything that a benchmark has started, so that none of it outlives it. */
export interface Started {
  folder: string
  databaseUrl: string
  temporalAddress: string
  /** Whether Temporal is the development server of ours: the aims differ. */
  isDevelopmentServer: boolean
  start(name: string, entry: string, environment: Record<string, string>): Promise<BenchProcess>
  /** Processor time of a process of ours and of PostgreSQL, if that is ours too, in seconds. */
  cpuSeconds(pid: number): number
  /** The same with Temporal, if that is ours. */
  cpuSecondsWithTemporal(pid: number): number
  /** The same of processes of ours alone. */
  cpuSecondsOf(pids: readonly number[]): number
  stopAll(): void
}

export interface BenchProcess extends Launched {
  port: number
}

/** PostgreSQL as safe as a deployment's and Temporal as `npm start` runs it, unless they are given. */
export async function startServers(environment: NodeJS.ProcessEnv): Promise<Started> {
  const folder = mkdtempSync(path.join(tmpdir(), 'referrals-bench-'))
  // the user that PostgreSQL runs as goes through it
  chmodSync(folder, 0o711)
  const launched: Launched[] = []
  const onSpawn = (server: Launched) => launched.push(server)
  const stopAll = () => {
    for (const { kill } of launched.splice(0).toReversed()) kill()
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
  process.once('exit', stopAll)
  const { DATABASE_URL, TEMPORAL_ADDRESS } = environment
  const [databaseUrl, temporalAddress] = await Promise.all([
    DATABASE_URL || startBarePostgres(path.join(folder, 'postgres'), onSpawn),
    TEMPORAL_ADDRESS || startBareTemporal(folder, environment, onSpawn),
  ])
  const start = async (name: string, entry: string, variables: Record<string, string>) => {
    const logFile = path.join(folder, `${name}.log`)
    const { PATH, HOME, NODE_OPTIONS = '' } = environment
    const all = { PATH, HOME, NODE_OPTIONS, ...variables }
    const service = await startService({ name, entry, env: all, logFile, onSpawn })
    return { ...service, port: service.port ?? 0 }
  }
  const pidsOf = (...names: string[]) =>
    launched.flatMap(({ name, pid }) => (names.includes(name) ? [pid] : []))
  const postgres = pidsOf('PostgreSQL')
  const both = pidsOf('PostgreSQL', 'Temporal')
  return {
    folder,
    databaseUrl,
    temporalAddress,
    isDevelopmentServer: !TEMPORAL_ADDRESS,
    start,
    cpuSeconds: (pid) => cpuSeconds([pid, ...postgres]),
    cpuSecondsWithTemporal: (pid) => cpuSeconds([pid, ...both]),
    cpuSecondsOf: cpuSeconds,
    stopAll,
  }
}

export async function startBarePostgres(
  folder: string,
  onSpawn: (server: Launched) => void,
): Promise<string> {
  const { url } = await startPostgres({
    folder,
    port: await freePort(randomInt(30_000, 32_000)),
    password: randomBytes(16).toString('hex'),
    logFile: `${folder}.log`,
    onSpawn,
  })
  return url
}

export async function startBareTemporal(
  folder: string,
  environment: NodeJS.ProcessEnv,
  onSpawn: (server: Launched) => void,
): Promise<string> {
  const { address } = await startTemporal({
    program: await findTemporal(environment),
    port: await freePort(randomInt(17_000, 19_000)),
    databaseFile: path.join(folder, 'temporal.db'),
    logFile: path.join(folder, 'temporal.log'),
    environment,
    onSpawn,
  })
  return address
}
