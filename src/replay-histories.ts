import { readdirSync, readFileSync } from 'node:fs'
import { createRequire, registerHooks } from 'node:module'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { fail } from './fail.ts'

/**
 * Replays every history of a folder with the current workflows, and prints those that failed as one JSON object,
 * `{replayed, failures: {file: message}}`. A separate program, because of its hook.
 */
shareProtobuf()
const [{ Worker }, { workflowBundle }] = await Promise.all([
  import('@temporalio/worker'),
  import('./workflow-bundle.ts'),
])
const folder = process.argv[2] ?? fail('Usage: npm run replay -- FOLDER')
const options = { workflowBundle: await workflowBundle() }
const files = readdirSync(folder).filter((file) => file.endsWith('.json'))
const histories = files.map((file) => ({
  workflowId: file,
  history: JSON.parse(readFileSync(path.join(folder, file), 'utf8')) as unknown,
}))
const failures: Record<string, string> = {}
for await (const { workflowId, error } of Worker.runReplayHistories(options, histories)) {
  if (error) failures[workflowId] = `${error.name}: ${error.message}`
}
process.stdout.write(`${JSON.stringify({ replayed: files.length, failures })}\n`)
process.exitCode = Object.keys(failures).length > 0 ? 1 : 0

/**
 * npm installs a copy of protobufjs for each package of Temporal, and one copy does not accept the types of another:
 * reading a history fails with "type must be a Type". Here they share one copy.
 */
function shareProtobuf(): void {
  const worker = createRequire(import.meta.url).resolve('@temporalio/worker')
  const proto = createRequire(createRequire(worker).resolve('@temporalio/proto'))
  const names = ['protobufjs', 'protobufjs/light', 'protobufjs/minimal', 'protobufjs/ext/protojson']
  const shared = new Map(names.map((specifier) => [specifier, pathToFileURL(proto.resolve(specifier)).href]))
  registerHooks({
    resolve(specifier, context, next) {
      const url = context.parentURL?.includes('/@temporalio/') ? shared.get(specifier) : undefined
      return url === undefined ? next(specifier, context) : { url, shortCircuit: true }
    },
  })
}
