import path from 'node:path'
import { processEnvironment } from '../config.ts'
import { launch, type Launched } from './launch.ts'
import { planTemporal, type ServerOptions } from './servers.ts'

const source = path.join(import.meta.dirname, '..')

interface ServiceOptions {
  name: string
  /** The entry point in `src`, the same as in a deployment. */
  entry: string
  environment: NodeJS.ProcessEnv
  logFile: string
  onSpawn: (launched: Launched) => void
}

/** Starts an entry point of the service as a process of its own, and waits until it serves. */
export function startService({ entry, environment: env, ...options }: ServiceOptions) {
  const args = ['--require', path.join(source, 'preload.cjs'), path.resolve(source, entry)]
  // the worker gives webhooks in flight 20 s, and itself 30 s
  return launch({ ...options, command: process.execPath, args, env, graceMs: 32_000 })
}

/**
 * Temporal, and the same two processes as in a deployment. They start at the same time, because bundling the workflows
 * takes longer than the servers need; until those answer, the processes retry, the worker for STARTUP_SECONDS.
 *
 * @returns the variables that lead to them.
 */
export async function startServices(
  port: number,
  variables: Record<string, string>,
  options: ServerOptions,
): Promise<Record<string, string>> {
  const { dataDirectory, onSpawn } = options
  const temporal = await planTemporal(options)
  const common = { ...variables, ...temporal.variables }
  const start = (name: string, entry: string, own: Record<string, string>) => {
    const logFile = path.join(dataDirectory, `${name.toLowerCase()}.log`)
    return startService({
      name,
      entry,
      environment: processEnvironment({ ...common, ...own }),
      logFile,
      onSpawn,
    })
  }
  const [, api] = await Promise.all([
    temporal.start(),
    start('API', 'server.ts', { PORT: String(port) }),
    start('worker', 'worker.ts', { METRICS_PORT: portAfter(options.environment.METRICS_PORT) }),
  ])
  return { ...temporal.variables, API_URL: `http://127.0.0.1:${api.port}/v1` }
}

/** Two processes cannot share a port for their metrics. */
const portAfter = (port = '') => (/^[1-9]\d*$/.test(port) ? String(Number(port) + 1) : port)
