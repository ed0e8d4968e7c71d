import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { bundleWorkflowCode, DefaultLogger, type WorkflowBundle } from '@temporalio/worker'
import { bundleOptions } from './temporal/worker-options.ts'

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
 * What a worker runs its workflows from. Bundling takes a second and more of a processor, so the result is
 * kept beside the installed packages, for as long as neither they nor a source file changes.
 */
export async function workflowBundle(keptFile = cacheFile): Promise<WorkflowBundle> {
  const hash = existsSync(installed) ? hashOfSources() : undefined
  const kept = readKept(keptFile)
  if (kept !== undefined && kept.hash === hash) return { code: kept.code }
  const { code } = await bundleWorkflowCode({ ...bundleOptions, logger: new DefaultLogger('WARN') })
  if (hash !== undefined) keep(keptFile, { hash, code })
  return { code }
}

/** Every file that could be bundled, rather than those that are: finding out which would be bundling. */
function hashOfSources(): string {
  const hash = createHash('sha256').update(readFileSync(installed))
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

/** Where nothing can be written, as in a container that was not prepared, each start bundles anew. */
function keep(keptFile: string, kept: Kept): void {
  const unfinished = `${keptFile}.${process.pid}`
  try {
    mkdirSync(path.dirname(keptFile), { recursive: true })
    writeFileSync(unfinished, JSON.stringify(kept))
    renameSync(unfinished, keptFile)
  } catch {
    // costs time at the next start, and nothing else
  }
}
