import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { Client, Connection } from '@temporalio/client'
import { readTemporal } from './config.ts'
import { sampleHistories } from './core/temporal/sample.ts'
import { tlsFault } from './core/temporal/tls-fault.ts'
import { fail, orFail, reasonOf } from './fail.ts'
import { shareProtobuf } from './shared-protobuf.ts'

/**
 * Writes the histories of a sample of the open workflows into an empty folder, for `npm run replay`, and prints how many
 * of each type as one JSON object, `{sampled, types: {type: {open, sampled}}}`. A
 * separate program, because of its hook.
 */
shareProtobuf()
const { historyToJSON } = await import('@temporalio/common/lib/proto-utils.js')
const folder = process.argv[2] ?? fail('Usage: npm run sample -- FOLDER')
const { connectionOptions, namespace } = orFail(() => readTemporal(undefined))
mkdirSync(folder, { recursive: true })
if (readdirSync(folder).length > 0)
  fail(`${folder} is not empty: what is in it would be replayed too. Name another folder.`)
try {
  const connection = await Connection.connect(connectionOptions)
  const types = await sampleHistories(new Client({ connection, namespace }), ({ workflowId }, history) =>
    writeFileSync(path.join(folder, `${encodeURIComponent(workflowId)}.json`), historyToJSON(history)),
  )
  const sampled = Object.values(types).reduce((sum, type) => sum + type.sampled, 0)
  process.stdout.write(`${JSON.stringify({ sampled, types })}\n`)
  await connection.close()
} catch (error) {
  fail(
    (await tlsFault(connectionOptions)) ??
      `No histories can be taken from Temporal at ${connectionOptions.address}, namespace ${namespace}: ${reasonOf(error)}.`,
  )
}
