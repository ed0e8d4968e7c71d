import { mkdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { bundleWorkflowCode, DefaultLogger, type WorkflowBundle } from '@temporalio/worker'
import { bundleOptions } from './core/temporal/worker-options.ts'
import { hashOfProduct, root } from './config/sources.ts'
import { replaceFile } from './replace-file.ts'

const cacheFile = path.join(root, 'node_modules/.cache/partner-referral-service/workflows.json')

interface Kept {
  hash: string
  /** Whether it has stacks of calls. */
  callStacks: boolean
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
  // covers every file that might be bundled: to know which ones are, they would have to be bundled
  const hash = hashOfProduct()
  const kept = readKept(keptFile)
  if (kept !== undefined && kept.hash === hash && kept.callStacks === callStacks) return { code: kept.code }
  const options = { ...bundleOptions({ callStacks }), logger: new DefaultLogger('WARN') }
  const { code } = await bundleWorkflowCode(options)
  if (hash !== undefined) keep(keptFile, { hash, callStacks, code })
  return { code }
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
  try {
    mkdirSync(path.dirname(keptFile), { recursive: true })
    replaceFile(keptFile, JSON.stringify(kept))
  } catch {
    // this only costs time at the next start
  }
}
