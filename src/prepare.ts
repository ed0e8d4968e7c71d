import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { bundlePrograms, programs } from './program-bundle.ts'
import { root } from './config/sources.ts'
import { workflowBundle } from './workflow-bundle.ts'

// npm runs this at the end of every install. Bundles of programs only save time: where they cannot be made, programs run
// from their sources.
await Promise.all([
  workflowBundle(),
  bundlePrograms().catch((error: unknown) =>
    console.error(`Programs will start more slowly, because they could not be bundled: ${String(error)}`),
  ),
])
// fills the compile cache (see preload.cjs), so that the first start is as fast as later ones
await Promise.all(programs.map(load))

/** Has a program load all that it needs, and end: it either says what its arguments are, or which setting it lacks. */
async function load(program: string): Promise<void> {
  const args = ['--require', './src/preload.cjs', program, '--help']
  await once(spawn(process.execPath, args, { cwd: root, env: {}, stdio: 'ignore' }), 'close')
}
