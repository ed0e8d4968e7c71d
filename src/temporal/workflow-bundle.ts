import { mkdirSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { bundleWorkflowCode, DefaultLogger, type WorkflowBundle } from '@temporalio/worker'
import { bundleOptions } from './worker-options.ts'

const root = path.join(import.meta.dirname, '../..')
const cacheFolder = path.join(root, 'node_modules/.cache/partner-referral-service')

/**
 * The bundle that a worker runs its workflows from. Bundling takes more than a second of CPU time, so `npm ci` does it
 * once, and a start does it again only if a source is newer.
 */
export async function workflowBundle(folder = cacheFolder): Promise<WorkflowBundle> {
  const file = path.join(folder, 'workflows.js')
  return changedAt(file) > newestSource() ? { code: readFileSync(file, 'utf8') } : bundleWorkflows(folder)
}

/** Bundles anew, as packages may have changed. */
async function bundleWorkflows(folder = cacheFolder): Promise<WorkflowBundle> {
  const { code } = await bundleWorkflowCode({ ...bundleOptions, logger: new DefaultLogger('WARN') })
  keep(path.join(folder, 'workflows.js'), code)
  return { code }
}

/** In milliseconds; 0 if there is none. */
const changedAt = (file: string): number => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0

/** When any source that may be in the bundle last changed: only bundling tells which ones are. */
function newestSource(): number {
  const sources = ['workflows', 'src'].flatMap((folder) =>
    readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts') && !name.startsWith('clients'))
      .map((name) => path.join(root, folder, name)),
  )
  return Math.max(...sources.map(changedAt))
}

function keep(file: string, code: string): void {
  // another process may read it meanwhile
  const unfinished = `${file}.${process.pid}`
  try {
    mkdirSync(path.dirname(file), { recursive: true })
    writeFileSync(unfinished, code)
    renameSync(unfinished, file)
  } catch {
    // in a read-only container, this only costs time at the next start
  }
}

// npm runs this file at the end of every install
if (import.meta.main) await bundleWorkflows()
