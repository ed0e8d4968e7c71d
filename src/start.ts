import { mkdirSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { processEnvironment } from './config.ts'
import { banner, sandboxJson } from './embedded/banner.ts'
import { onNpmGone } from './embedded/npm-gone.ts'
import { beginRun, defaultDataDirectory as dataDirectory } from './embedded/run-file.ts'
import { startSandbox } from './embedded/sandbox.ts'
import { beginAnew } from './embedded/servers.ts'
import { readSettings } from './embedded/settings.ts'
import { createSupervisor, type Supervisor } from './embedded/supervisor.ts'
import { OTHERS } from './temporal/namespace-claim.ts'

const help = `npm start -- [--fresh] [--json]

Runs the whole service on this machine, for trying it out: PostgreSQL, Temporal with its Web UI, API, worker,
and a demo partner with a key and an endpoint. DATABASE_URL and TEMPORAL_ADDRESS name running servers to use
instead of starting some. Everything listens on 127.0.0.1; data is kept in .data/.

  --fresh  begin anew, without the data of earlier starts
  --json   print one JSON line when everything is ready, and all else on stderr
`

/** Two signals within this time are one: npm passes on what the terminal has sent to us already. */
const repeatMs = 500

const options = readOptions()
const say = (line: string) => (options.json ? console.error(line) : console.log(line))
let ending = false

function readOptions(): { fresh?: boolean; json?: boolean } {
  try {
    const flag = { type: 'boolean' } as const
    const { values } = parseArgs({ options: { fresh: flag, json: flag, help: flag } })
    if (values.help) process.exit(console.log(help) ?? 0)
    return values
  } catch (error) {
    return fail(`${(error as Error).message}. See npm start -- --help.`)
  }
}

function fail(line: string): never {
  console.error(line)
  process.exit(1)
}

/** Stops everything and ends this process; the first reason counts. */
async function end(supervisor: Supervisor, code: number, line: string): Promise<void> {
  if (ending) return
  ending = true
  console.error(remediedHere(line))
  await supervisor.stopAll()
  process.exit(code)
}

/** A deployment's remedies are not those of a sandbox whose Temporal is in the data directory. */
function remediedHere(line: string): string {
  if (processEnvironment().TEMPORAL_ADDRESS || !line.includes(OTHERS)) return line
  return 'The workflows in .data/ are those of another database: name that one in DATABASE_URL, or unset it if it is the one in .data/, or begin anew with npm start -- --fresh.'
}

function endOnSignals(supervisor: Supervisor): void {
  let first = 0
  const onSignal = () => {
    if (first === 0) first = Date.now()
    else if (Date.now() - first > repeatMs) {
      supervisor.killAll()
      fail('Stopped at once, without waiting for work in flight.')
    }
    void end(supervisor, 0, 'Stopping API, worker, Temporal and PostgreSQL … (Ctrl-C again to force)')
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal)
  if (processEnvironment().npm_lifecycle_event !== undefined) onNpmGone(onSignal)
  // Whoever reads our output may leave.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
}

async function start(
  supervisor: Supervisor,
  ready: (variables: Record<string, string>) => void,
): Promise<void> {
  const waiting: string[] = []
  let print = (line: string): void => void waiting.push(line)
  const { sandbox, variables } = await startSandbox({
    dataDirectory,
    settings: readSettings(dataDirectory),
    environment: processEnvironment(),
    onSpawn: supervisor.adopt,
    // Ctrl-C ends the programs that we ask for their version too, which looks as if they were missing.
    report: (line) => (ending ? undefined : console.error(line)),
    print: (line) => print(line),
  })
  ready(variables)
  console.log(options.json ? sandboxJson(sandbox) : banner(sandbox))
  print = say
  waiting.forEach(print)
}

try {
  mkdirSync(dataDirectory, { recursive: true, mode: 0o700 })
  const run = await beginRun(dataDirectory)
  const supervisor = createSupervisor(run, (line: string) => void end(supervisor, 1, line))
  endOnSignals(supervisor)
  if (beginAnew(dataDirectory, options.fresh === true, processEnvironment()))
    say('The workflows in .data/ are from an older version: restarting every open lead from the record.')
  await start(supervisor, run.ready).catch((error: unknown) => end(supervisor, 1, (error as Error).message))
} catch (error) {
  fail((error as Error).message)
}
