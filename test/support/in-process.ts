import { type Build, readBuild, readConfig, readTemporal } from '../../src/config.ts'
import { createLogger } from '../../src/observe/log.ts'
import { runApi } from '../../src/run-api.ts'
import { runWorker } from '../../src/run-worker.ts'
import { atEnd } from './at-end.ts'
import { installQuietRuntime } from './quiet-runtime.ts'

/** An API or a worker in this process: as it is in a process of its own, but for signals and the lines of Temporal's SDK. */
export interface Running {
  port: number | undefined
  metricsPort: number | undefined
  /** Every line that it has logged so far. */
  output: () => string
  /** Ends it as SIGTERM does. */
  stop: () => Promise<void>
}

type Environment = Record<string, string>

export async function startApiHere(environment: Environment): Promise<Running> {
  const config = readConfig('api', {}, environment)
  const build = readBuild(config)
  const { log, output } = logOf('api', config.LOG_LEVEL, build)
  const { stop, ...ports } = await runApi({
    config,
    temporal: readTemporal(config, environment),
    build,
    log,
  })
  return untilEnd({ ...ports, output, stop: async () => stop(false) })
}

export async function startWorkerHere(environment: Environment): Promise<Running> {
  installQuietRuntime()
  const config = readConfig('worker', {}, environment)
  const build = readBuild(config)
  const { log, output } = logOf('worker', config.LOG_LEVEL, build)
  const worker = await runWorker({
    config,
    temporal: readTemporal(config, environment),
    build,
    log,
  })
  const { metricsPort, ready, ended } = worker
  const stop = async () => {
    worker.stop()
    await ended
  }
  await ready
  return untilEnd({ port: undefined, metricsPort, output, stop })
}

function logOf(name: 'api' | 'worker', level: string, { build }: Build) {
  const lines: string[] = []
  const log = createLogger(level, name, { build, destination: { write: (line) => void lines.push(line) } })
  return { log, output: () => lines.join('') }
}

function untilEnd(running: Running): Running {
  atEnd(running.stop)
  return running
}
