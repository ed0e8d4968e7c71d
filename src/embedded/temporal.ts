import { searchAttributes } from '../core/leads/decisions/search-attributes.ts'
import { launch, type Launched } from './launch.ts'

interface TemporalOptions {
  /** The Temporal CLI, see `findTemporal`. */
  program: string
  port: number
  /** Without it there is no Web UI. */
  uiPort?: number
  /** Without it the data is kept in memory. */
  databaseFile?: string
  /** Dynamic configuration beside our own, as `key=value`. */
  settings?: string[]
  logFile: string
  environment: NodeJS.ProcessEnv
  onSpawn?: (launched: Launched) => void
}

/**
 * Starts Temporal's development server on 127.0.0.1 with the namespace `default` and our search attributes.
 *
 * @throws {Error} one line with the last error that it printed.
 */
export async function startTemporal(options: TemporalOptions): Promise<Launched & { address: string }> {
  const { program, port, logFile, environment, onSpawn } = options
  // the CLI reads flags from TEMPORAL_… variables too, and those are meant for clients
  const neutral = Object.entries(environment).filter(([name]) => !name.startsWith('TEMPORAL_'))
  const launched = await launch({
    name: 'Temporal',
    command: program,
    args: ['server', 'start-dev', ...serverFlags(options)],
    env: Object.fromEntries(neutral),
    logFile,
    // printed last, when all its services are up
    readyLine: /^Metrics:/m,
    onSpawn,
  })
  return { ...launched, address: `127.0.0.1:${port}` }
}

function serverFlags({ port, uiPort, databaseFile, settings = [] }: TemporalOptions): string[] {
  const flags = [
    ['--ip', '127.0.0.1', '--port', String(port)],
    uiPort ? ['--ui-port', String(uiPort)] : ['--headless'],
    databaseFile ? ['--db-filename', databaseFile] : [],
    // 283 workflow starts a second instead of 106; only a crash of the machine can lose the latest ones
    ['--sqlite-pragma', 'journal_mode=WAL', '--sqlite-pragma', 'synchronous=NORMAL'],
    // from a signal to its activity in 49 ms instead of 100
    ['--dynamic-config-value', 'system.enableActivityEagerExecution=true'],
    // with 20, each dispatch of a task waits for up to 50 ms
    ['--dynamic-config-value', 'history.transferProcessorMaxPollRPS=1000'],
    // with 30 s, one pending task makes the queue go through all later ones, each time another arrives
    ['--dynamic-config-value', 'history.transferProcessorUpdateAckInterval="1s"'],
    ['--dynamic-config-value', 'history.visibilityProcessorUpdateAckInterval="1s"'],
    // with 512, each call waits for so many tasks' turns at SQLite's one connection while many leads are due
    ...['timer', 'transfer', 'visibility'].map((queue) => [
      '--dynamic-config-value',
      `history.${queue}ProcessorSchedulerWorkerCount=8`,
    ]),
    // tasks of many leads of one partner don't keep those of others waiting
    ['--dynamic-config-value', 'matching.enableFairness=true'],
    // with 1,000, so many tasks in a row that have expired keep the queue from all later ones, for ever
    ['--dynamic-config-value', 'matching.getTasksBatchSize=10000'],
    // with four, a task waits for a poller of its partition while others have nothing to do
    ['--dynamic-config-value', 'matching.numTaskqueueReadPartitions=1'],
    ['--dynamic-config-value', 'matching.numTaskqueueWritePartitions=1'],
    settings.flatMap((setting) => ['--dynamic-config-value', setting]),
    Object.entries(searchAttributes).flatMap(([name, type]) => ['--search-attribute', `${name}=${type}`]),
    ['--log-level', 'error', '--color', 'never', '--disable-config-file'],
  ]
  return flags.flat()
}
