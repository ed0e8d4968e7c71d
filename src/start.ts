import { parseArgs } from 'node:util'
import { processEnvironment } from './config.ts'
import { banner, sandboxJson } from './embedded/banner.ts'
import { defaultDataDirectory as dataDirectory, removeUnusable } from './embedded/data-directory.ts'
import type { Launched } from './embedded/launch.ts'
import { beginRun } from './embedded/run.ts'
import { startSandbox } from './embedded/sandbox.ts'
import { fail } from './fail.ts'

const help = `npm start -- [--fresh] [--json]

Runs the whole service on this machine, to try it out: PostgreSQL, Temporal with its Web UI, the API, the worker,
and a demo partner with a key and an endpoint. To use running servers instead, set DATABASE_URL and TEMPORAL_ADDRESS.
Everything listens on 127.0.0.1, and data is kept in .data/. The API's port is 3000, or the next free one; set PORT to
choose it.

  --fresh  delete the data of earlier starts first
  --json   print one line of JSON when everything is ready, and everything else to stderr
`

/** Two signals within this time are one: npm forwards what the terminal has already sent to us. */
const REPEAT_MS = 500

const environment = processEnvironment()
const options = readOptions()
const tellOthers = await beginRun(dataDirectory).catch((error: unknown) => fail((error as Error).message))
const running: Launched[] = []
let ending = false
try {
  endOnSignals()
  removeUnusable(dataDirectory, options.fresh === true)
  await start()
} catch (error) {
  await end(1, (error as Error).message)
}

function readOptions(): { fresh?: boolean; json?: boolean } {
  try {
    const flag = { type: 'boolean' } as const
    const { values } = parseArgs({ options: { fresh: flag, json: flag, help: flag } })
    if (values.help) process.exit(console.log(help) ?? 0)
    if (environment.npm_config_fresh === 'true' && !values.fresh)
      fail('npm has kept --fresh to itself, and nothing was deleted. Use npm start -- --fresh.')
    return values
  } catch (error) {
    return fail(`${(error as Error).message}. See npm start -- --help.`)
  }
}

async function start(): Promise<void> {
  const print = (line: string) => (options.json ? console.error(line) : console.log(line))
  const sandbox = await startSandbox({ dataDirectory, environment, onSpawn: adopt, print })
  tellOthers(sandbox.variables)
  console.log(options.json ? sandboxJson(sandbox) : banner(sandbox))
}

/** Ends everything when one process ends by itself. */
function adopt(launched: Launched): void {
  running.push(launched)
  if (ending) launched.kill()
  void launched.ended.then((reason) => end(1, `${launched.name} has ended: ${reason}`))
}

/** Stops everything and ends this process; the first reason counts. Senders of work stop before those that do it. */
async function end(code: number, line: string): Promise<void> {
  if (ending) return
  ending = true
  console.error(line)
  tellOthers({})
  for (const name of ['API', 'worker', 'Temporal', 'PostgreSQL'])
    await running.find((launched) => launched.name === name)?.stop()
  process.exit(code)
}

function endOnSignals(): void {
  let first = 0
  const onSignal = () => {
    if (first === 0) first = Date.now()
    else if (Date.now() - first > REPEAT_MS) {
      for (const launched of running) launched.kill()
      fail('Stopped at once, without waiting for work in flight.')
    }
    void end(0, 'Stopping API, worker, Temporal and PostgreSQL … (Ctrl-C again to force)')
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal)
  // a signal may end only npm, and a process is not told when its parent ends
  const parent = process.ppid
  if (environment.npm_lifecycle_event !== undefined)
    setInterval(() => process.ppid === parent || void end(0, 'Stopping, because npm has ended.'), 100).unref()
  // the reader of our output may end before us
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
}
