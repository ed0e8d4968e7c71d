import path from 'node:path'
import { searchAttributes } from '../temporal/names.ts'
import { freePort, launch, type Launched, type LaunchOptions, type SandboxOptions } from './launch.ts'
import { findTemporal } from './temporal-program.ts'

interface TemporalOptions extends Pick<LaunchOptions, 'logFile' | 'onSpawn'> {
  /** The Temporal CLI, see `findTemporal`. */
  program: string
  port: number
  /** Without it there is no Web UI. */
  uiPort?: number
  /** Without it the data is kept in memory. */
  databaseFile?: string
  /** Dynamic configuration beside our own, as `key=value`. */
  settings?: string[]
  environment: NodeJS.ProcessEnv
}

/**
 * Starts Temporal's development server on 127.0.0.1 with the namespace `default` and our search attributes.
 *
 * @throws {Error} one line with the last error that it printed.
 */
export async function startTemporal(options: TemporalOptions): Promise<Launched & { address: string }> {
  const { program, port, environment } = options
  // the CLI reads flags from TEMPORAL_… variables too, and those are meant for clients
  const neutral = Object.entries(environment).filter(([name]) => !name.startsWith('TEMPORAL_'))
  const launched = await launch({
    name: 'Temporal',
    command: program,
    args: ['server', 'start-dev', ...serverFlags(options)],
    env: Object.fromEntries(neutral),
    logFile: options.logFile,
    // printed last, when all its services are up
    readyLine: /^Metrics:/m,
    onSpawn: options.onSpawn,
  })
  return { ...launched, address: `127.0.0.1:${port}` }
}

/** As in `docker-compose.yml`, which says what each is for. */
const DYNAMIC_CONFIG = [
  'system.enableActivityEagerExecution=true',
  'history.transferProcessorUpdateAckInterval="1s"',
  'history.visibilityProcessorUpdateAckInterval="1s"',
  'matching.enableFairness=true',
  'matching.getTasksBatchSize=10000',
  'matching.numTaskqueueReadPartitions=1',
  'matching.numTaskqueueWritePartitions=1',
  // with 20, each dispatch of a task waits for up to 50 ms
  'history.transferProcessorMaxPollRPS=1000',
  // with 512, each call waits for so many tasks' turns at SQLite's one connection while many leads are due
  ...['timer', 'transfer', 'visibility'].map((queue) => `history.${queue}ProcessorSchedulerWorkerCount=8`),
]

function serverFlags({ port, uiPort, databaseFile, settings = [] }: TemporalOptions): string[] {
  const flags = [
    ['--ip', '127.0.0.1', '--port', String(port)],
    uiPort ? ['--ui-port', String(uiPort)] : ['--headless'],
    databaseFile ? ['--db-filename', databaseFile] : [],
    // 283 workflow starts a second instead of 106; only a crash of the machine can lose the latest ones
    ['--sqlite-pragma', 'journal_mode=WAL', '--sqlite-pragma', 'synchronous=NORMAL'],
    [...DYNAMIC_CONFIG, ...settings].flatMap((setting) => ['--dynamic-config-value', setting]),
    Object.entries(searchAttributes).flatMap(([name, type]) => ['--search-attribute', `${name}=${type}`]),
    ['--log-level', 'error', '--color', 'never', '--disable-config-file'],
  ]
  return flags.flat()
}

/**
 * Temporal: the server that TEMPORAL_ADDRESS names, or one of ours, which answers once `start` has resolved; `variables` say
 * how our processes, and the Temporal CLI, find it.
 */
export async function planTemporal({ dataDirectory, environment, onSpawn }: SandboxOptions) {
  const { TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE = 'default', TEMPORAL_UI_URL = '' } = environment
  if (TEMPORAL_ADDRESS)
    return { variables: { TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, TEMPORAL_UI_URL }, start: async () => {} }
  const others = Object.keys(environment).filter((name) => /^TEMPORAL_(TLS|API|GRPC|CODEC)/.test(name))
  const program = await findTemporal(environment)
  const [port, uiPort] = [await freePort(7233), await freePort(8233)]
  const logFile = path.join(dataDirectory, 'temporal.log')
  const databaseFile = path.join(dataDirectory, 'temporal.db')
  return {
    variables: {
      // settings for another server do not apply to ours
      ...Object.fromEntries(others.map((name) => [name, ''])),
      // to the Temporal CLI, even an empty certificate means TLS
      TEMPORAL_TLS: 'false',
      TEMPORAL_ADDRESS: `127.0.0.1:${port}`,
      TEMPORAL_NAMESPACE: 'default',
      TEMPORAL_UI_URL: `http://127.0.0.1:${uiPort}`,
    },
    start: () => startTemporal({ program, port, uiPort, databaseFile, logFile, environment, onSpawn }),
  }
}
