import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
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
  /\/api\/(console|extensions|fuzz|mistakes|openapi|own-endpoint|sandbox-only|sink)\.test\.ts$/.source

/**
 * Proves that the core stands alone: what is left type-checks without each capability, and the core's tests pass without
 * all of them. `npm run check:rooms -- sandbox` takes out one, `-- all` all at once.
 */
async function main([only]: string[]): Promise<void> {
  const names = Object.keys(removable)
  for (const name of names) if (only === undefined || only === name) without([name], typeCheck)
  if (only !== undefined && only !== 'all') return
  await startServers()
  without(names, (folder) => {
    dropTests(folder)
    return typeCheck(folder) ?? runTests(folder)
  })
  stopAll()
}

/** Checks what is left in a copy of the sources, and says how it went. */
function without(names: readonly string[], check: (folder: string) => string | undefined): void {
  const folder = copyOfSource()
  for (const name of names) takeOut(folder, name)
  const faults = check(folder)
  const title = names.join(', ')
  process.stdout.write(faults === undefined ? `✓ without ${title}\n` : `✗ without ${title}\n${faults}\n`)
  if (faults !== undefined) process.exitCode = 1
  rmSync(folder, { recursive: true })
}

/** @returns what it says of faults. */
function typeCheck(folder: string): string | undefined {
  // names that only a capability used
  const flags = ['--noUnusedLocals', 'false', '--noUnusedParameters', 'false']
  const { status, stdout } = spawnSync(
    process.execPath,
    [path.join(root, 'node_modules/typescript/bin/tsc'), '-p', folder, ...flags],
    { cwd: folder, encoding: 'utf8' },
  )
  return status === 0 ? undefined : stdout
}

function runTests(folder: string): string | undefined {
  const flags = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning']
  const support = path.join(folder, 'test/support')
  const setup = [
    `--globalSetup=${path.join(support, 'global-core.ts')}`,
    `--globalTeardown=${path.join(support, 'global-end.ts')}`,
    `--testPathIgnorePatterns=${beyondCore}`,
  ]
  const { status, stderr } = spawnSync(
    process.execPath,
    [...flags, path.join(root, 'node_modules/jest/bin/jest.js'), ...coreTests, '--ci', '--silent', ...setup],
    { cwd: folder, encoding: 'utf8' },
  )
  return status === 0 ? undefined : stderr
}

await main(process.argv.slice(2))
