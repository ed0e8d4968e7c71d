import { Connection } from '@temporalio/client'
import { processEnvironment } from './config.ts'
import { fail } from './fail.ts'
import { temporalSettings } from './temporal/client.ts'
import { ensureSearchAttributes } from './temporal/search-attributes.ts'

const RETENTION_SECONDS = 30 * 24 * 60 * 60
const ALREADY_EXISTS = 6

const { connectionOptions, namespace } = temporalSettings(processEnvironment())
try {
  const connection = await Connection.connect(connectionOptions)
  await ensureNamespace(connection)
  const added = await ensureSearchAttributes(connection, namespace)
  process.stdout.write(`Temporal is set up: namespace ${namespace}, ${added} search attributes added.\n`)
  await connection.close()
} catch (error) {
  const reason = error instanceof Error ? error.message : String(error)
  fail(
    `Temporal at ${connectionOptions.address} cannot be set up: ${reason}. Check TEMPORAL_ADDRESS and that it runs.`,
  )
}

async function ensureNamespace({ workflowService }: Connection): Promise<void> {
  try {
    const workflowExecutionRetentionPeriod = { seconds: RETENTION_SECONDS as never }
    await workflowService.registerNamespace({ namespace, workflowExecutionRetentionPeriod })
  } catch (error) {
    if ((error as { code?: number }).code !== ALREADY_EXISTS) throw error
  }
}
