import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import path from 'node:path'
import startServers, { stopAll } from '../support/global-setup.ts'
import { copyOfSource, dropTests, removable, root, takeOut } from './copy.ts'

/** The core as its users see it, with the decisions beneath: as much as a minute tests. */
const coreTests = [
  'test/(journey|specification)\\.',
  'test/(api|domain|webhooks)/',
  'test/workflows/(referral|reconcile|sweep)\\.',
]

/** Tests that ask capabilities for something over HTTP: what they import does not tell. */
const beyondCore =
  /\/api\/(console|extensions|invalid-fields|mistakes|openapi|own-endpoint|quotas|repeats|sandbox-only|sink)\.test\.ts$/
    .source

/**
 * Proves that the core stands alone: what is left type-checks without each capability, and the core's tests pass without
 * all of them. `npm run check:rooms -- sandbox` takes out one, `-- all` all at once.
 */
async function main([only]: string[]): Promise<void> {
  const names = Object.keys(removable)
  const alone = names.filter((name) => only === undefined || only === name)
  await inTurns(alone, (name) => without([name], typeCheck))
  if (only !== undefined && only !== 'all') return
  await startServers()
  await without(names, async (folder) => {
    dropTests(folder)
    return (await typeCheck(folder)) ?? runTests(folder)
  })
  stopAll()
}

/** As many at a time as there are processors. */
async function inTurns(names: readonly string[], work: (name: string) => Promise<void>): Promise<void> {
  const waiting = names.values()
  const turns = Array.from({ length: availableParallelism() }, async () => {
    for (const name of waiting) await work(name)
  })
  await Promise.all(turns)
}

/** Checks what is left in a copy of the sources, and says how it went. */
async function without(names: readonly string[], check: Check): Promise<void> {
  const folder = copyOfSource()
  for (const name of names) takeOut(folder, name)
  const faults = await check(folder)
  const title = names.join(', ')
  process.stdout.write(faults === undefined ? `✓ without ${title}\n` : `✗ without ${title}\n${faults}\n`)
  if (faults !== undefined) process.exitCode = 1
  rmSync(folder, { recursive: true })
}

/** What it says of faults in a folder. */
type Check = (folder: string) => Promise<string | undefined>

const typeCheck: Check = (folder) => {
  // names that only a capability used; several threads check most of the types once each
  const flags = ['--noUnusedLocals', 'false', '--noUnusedParameters', 'false', '--singleThreaded']
  const tsc = path.join(root, 'node_modules/typescript/bin/tsc')
  return new Promise((resolve) => {
    execFile(process.execPath, [tsc, '-p', folder, ...flags], { maxBuffer: 64 * 2 ** 20 }, (error, stdout) =>
      resolve(error === null ? undefined : stdout),
    )
  })
}

/** As `npm test`, so with whatever jest needs; what it says is printed at once, should it never end. */
const runTests: Check = async (folder) => {
  const support = path.join(folder, 'test/support')
  const setup = [
    `--globalSetup=${path.join(support, 'global-core.ts')}`,
    `--globalTeardown=${path.join(support, 'global-end.ts')}`,
    `--testPathIgnorePatterns=${beyondCore}`,
  ]
  const test = ['test', '--', ...coreTests, '--ci', '--silent', ...setup]
  const jest = spawn('npm', test, {
    cwd: folder,
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  const [code] = (await once(jest, 'close')) as [number | null]
  return code === 0 ? undefined : `npm test ended with ${code}`
}

await main(process.argv.slice(2))
