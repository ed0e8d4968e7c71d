import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { bundleWorkflowCode, DefaultLogger, type WorkflowBundle } from '@temporalio/worker'
import { bundleOptions } from './core/temporal/worker-options.ts'

const root = path.join(import.meta.dirname, '..')
const modules = path.join(root, 'node_modules')
/** npm's own record of what is installed. */
const installed = path.join(modules, '.package-lock.json')
const cacheFile = path.join(modules, '.cache/partner-referral-service/workflows.json')

interface Kept {
  hash: string
  code: string
}

/**
 * The bundle that a worker runs its workflows from. Bundling takes more than a second of CPU time, so the result is
 * cached beside the installed packages until they, a source file or `callStacks` change.
 */
export async function workflowBundle({
  callStacks = false,
  keptFile = cacheFile,
} = {}): Promise<WorkflowBundle> {
  const hash = existsSync(installed) ? hashOfSources(callStacks) : undefined
  const kept = readKept(keptFile)
  if (kept !== undefined && kept.hash === hash) return { code: kept.code }
  const options = { ...bundleOptions({ callStacks }), logger: new DefaultLogger('WARN') }
  const { code } = await bundleWorkflowCode(options)
  if (hash !== undefined) keep(keptFile, { hash, code })
  return { code }
}

/** Covers every file that might be bundled: to know which ones are, they would have to be bundled. */
function hashOfSources(callStacks: boolean): string {
  const hash = createHash('sha256').update(readFileSync(installed)).update(String(callStacks))
  for (const folder of ['src', 'workflows']) {
    const files = readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' }).toSorted()
    for (const file of files.filter((name) => name.endsWith('.ts'))) {
      hash.update(file).update(readFileSync(path.join(root, folder, file)))
    }
  }
  return hash.digest('hex')
}

function readKept(keptFile: string): Kept | undefined {
  try {
    return JSON.parse(readFileSync(keptFile, 'utf8')) as Kept
  } catch {
    return undefined
  }
}

/** Where nothing can be written, as in a read-only container, every start bundles again. */
function keep(keptFile: string, kept: Kept): void {
  const unfinished = `${keptFile}.${process.pid}`
  try {
    mkdirSync(path.dirname(keptFile), { recursive: true })
    writeFileSync(unfinished, JSON.stringify(kept))
    renameSync(unfinished, keptFile)
  } catch {
    // this only costs time at the next start
  }
}
