import { searchAttributes } from '../domain/search-attributes.ts'
import { launch, type Launched } from './launch.ts'

interface TemporalOptions {
  /** The Temporal command line program, see `findTemporal`. */
  program: string
  port: number
  /** Without it there is no Web UI. */
  uiPort?: number
  /** Without it nothing outlives the process. */
  databaseFile?: string
  /** Dynamic configuration beside our own, for tests: `key=value`. */
  settings?: string[]
  logFile: string
  environment: NodeJS.ProcessEnv
  onSpawn?: (launched: Launched) => void
}

/**
 * Starts Temporal's development server on 127.0.0.1 with the namespace `default` and our search attributes.
 *
 * @throws {Error} one line with its own last line.
 */
export async function startTemporal(
  options: TemporalOptions,
): Promise<Launched & { address: string; ui?: string }> {
  const { program, port, uiPort, logFile, environment, onSpawn } = options
  const launched = await launch({
    name: 'Temporal',
    command: program,
    args: ['server', 'start-dev', ...serverFlags(options)],
    env: withoutTemporalSettings(environment),
    logFile,
    // The last line that it prints once every service of it is up.
    readyLine: /^Metrics:/,
    stopSignal: 'SIGTERM',
    onSpawn,
  })
  return { ...launched, address: `127.0.0.1:${port}`, ui: uiPort ? `http://127.0.0.1:${uiPort}` : undefined }
}

function serverFlags({ port, uiPort, databaseFile, settings = [] }: TemporalOptions): string[] {
  const flags = [
    ['--ip', '127.0.0.1', '--port', String(port)],
    uiPort ? ['--ui-port', String(uiPort)] : ['--headless'],
    databaseFile ? ['--db-filename', databaseFile] : [],
    // 283 workflow starts a second instead of 106; only a crash of the machine can lose the latest ones.
    ['--sqlite-pragma', 'journal_mode=WAL', '--sqlite-pragma', 'synchronous=NORMAL'],
    // From a signal to its activity in 49 ms instead of 100.
    ['--dynamic-config-value', 'system.enableActivityEagerExecution=true'],
    settings.flatMap((setting) => ['--dynamic-config-value', setting]),
    Object.entries(searchAttributes).flatMap(([name, type]) => ['--search-attribute', `${name}=${type}`]),
    ['--log-level', 'error', '--color', 'never', '--disable-config-file'],
  ]
  return flags.flat()
}

/** The program takes flags from TEMPORAL_… variables too; those are meant for clients. */
function withoutTemporalSettings(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !name.startsWith('TEMPORAL_')))
}
