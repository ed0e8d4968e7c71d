import { Connection } from '@temporalio/client'
import { retryFor } from '../activities/activity-context.ts'
import { type Config, processEnvironment, readConfig, readTemporal } from './config.ts'
import { requireDeployment } from './database/deployment.ts'
import { connect } from './database/orm.ts'
import { sqlOf } from './database/sql.ts'
import { fail, failIfRefused, orFail, reasonOf, Refusal } from './fail.ts'
import { claimNamespace, giveNamespace } from './temporal/namespace-guard.ts'
import { ensureSearchAttributes } from './temporal/search-attributes.ts'

const RETENTION_SECONDS = 30 * 24 * 60 * 60
const ALREADY_EXISTS = 6
const REMEMBERED_MS = 10_000

const takesOver = process.argv.includes('--take-over')
const environment = processEnvironment()
// without a database, the first worker claims the namespace
const config = environment.DATABASE_URL ? orFail(() => readConfig('setup-temporal')) : undefined
const { connectionOptions, namespace } = orFail(() => readTemporal(config))
const deployment = config && (await deploymentOf(config))
try {
  const connection = await Connection.connect(connectionOptions)
  await ensureNamespace(connection)
  // a server that a waiting worker asked for the namespace too early caches for a while that it is missing
  const added = await retryFor(() => ensureSearchAttributes(connection, namespace), REMEMBERED_MS)
  if (takesOver) await giveNamespace(connection.workflowService, namespace, deployment ?? '')
  else if (deployment !== undefined) await claimNamespace(connection.workflowService, namespace, deployment)
  process.stdout.write(`Temporal is set up: namespace ${namespace}, ${added} search attributes added.\n`)
  await connection.close()
} catch (error) {
  if (error instanceof Refusal) fail(error.message)
  fail(
    `Temporal at ${connectionOptions.address} cannot be set up: ${reasonOf(error)}. Check TEMPORAL_ADDRESS and TEMPORAL_TLS, and that Temporal is running.`,
  )
}

async function deploymentOf({ DATABASE_URL: url, ENVIRONMENT }: Config<'setup-temporal'>): Promise<string> {
  const orm = await connect(url)
  try {
    return await requireDeployment(sqlOf(orm), ENVIRONMENT).catch(failIfRefused)
  } catch (error) {
    return fail(
      `The database cannot be used: ${reasonOf(error)}. Run npm run migrate first, or unset DATABASE_URL.`,
    )
  } finally {
    await orm.close()
  }
}

async function ensureNamespace({ workflowService }: Connection): Promise<void> {
  try {
    const workflowExecutionRetentionPeriod = { seconds: RETENTION_SECONDS as never }
    await workflowService.registerNamespace({ namespace, workflowExecutionRetentionPeriod })
  } catch (error) {
    if ((error as { code?: number }).code !== ALREADY_EXISTS) throw error
  }
}
