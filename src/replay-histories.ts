import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { fail } from './fail.ts'
import { shareProtobuf } from './shared-protobuf.ts'

/**
 * Replays every history of a folder with the current workflows, and prints those that failed as one JSON object,
 * `{replayed, failures: {file: message}}`. The exit code is 0 only if there are histories and all of them replay. A
 * separate program, because of its hook.
 */
shareProtobuf()
const [{ DefaultLogger, Runtime, Worker }, { workflowBundle }] = await Promise.all([
  import('@temporalio/worker'),
  import('./workflow-bundle.ts'),
])
const folder = process.argv[2] ?? fail('Usage: npm run replay -- FOLDER')
const files = readdirSync(folder).filter((file) => file.endsWith('.json'))
if (files.length === 0) fail(`${folder} has no histories (*.json): nothing was replayed.`)
// what fails is printed below, once
Runtime.install({
  logger: new DefaultLogger('ERROR'),
  telemetryOptions: { logging: { filter: { core: 'ERROR', other: 'ERROR' }, forward: {} } },
})
const options = { workflowBundle: await workflowBundle() }
const failures: Record<string, string> = {}
for await (const { workflowId, error } of Worker.runReplayHistories(options, histories())) {
  if (error) failures[workflowId] = `${error.name}: ${error.message}`
}
process.stdout.write(`${JSON.stringify({ replayed: files.length, failures })}\n`)
const failed = Object.keys(failures).length
if (failed > 0) {
  process.exitCode = 1
  process.stderr.write(
    `Don’t release this build: ${failed} of ${files.length} histories do not replay with it. See “Change workflow code” in docs/operations/releases.md.\n`,
  )
}

/** One at a time: a sample may have a gigabyte in all. */
function* histories() {
  for (const file of files)
    yield {
      workflowId: file,
      history: JSON.parse(readFileSync(path.join(folder, file), 'utf8')) as unknown,
    }
}
