import type { Client } from '@temporalio/client'
import { NativeConnection } from '@temporalio/worker'
import { retryFor } from '../activities/retry-for.ts'
import type { Config, TemporalSettings } from './config.ts'
import { requireDeployment } from './core/record/statements/deployment.ts'
import { lackingKeys } from './core/sealing/statements/encryption-keys.ts'
import { isReachable, type Sql } from './core/database/sql.ts'
import { unusableDatabase } from './database-fault.ts'
import { otherSchema } from './core/database/schema/schema-version.ts'
import { fail, failIfOtherEnvironment, reasonOf } from './fail.ts'
import { OtherDeployment } from './core/temporal/namespace-claim.ts'
import type { NamespaceGuard } from './core/temporal/namespace-guard.ts'
import { missingSearchAttributes } from './core/temporal/search-attributes.ts'
import { requireServiceLogin } from './service-login.ts'
import { setUpNamespace, unreachable, unusableNamespace } from './temporal-remedies.ts'

// What a worker needs before it starts. Each check ends the process with one line that says what to do; without it,
// the fault would show as workflows and activities that fail one by one.

/** Temporal and PostgreSQL may be starting too, and a migration may be running. */
const patienceMs = ({ STARTUP_SECONDS: seconds }: Config<'worker'>) => seconds * 1000

export async function connectToTemporal(
  temporal: TemporalSettings,
  config: Config<'worker'>,
): Promise<NativeConnection> {
  const { connectionOptions } = temporal
  // without TLS, Temporal is nearby: compression costs more than it saves
  const near = connectionOptions.tls ? {} : { grpcCompression: { codec: 'none' as const } }
  const connectOnce = () => NativeConnection.connect({ ...connectionOptions, ...near })
  return retryFor(connectOnce, patienceMs(config)).catch(async (error: unknown) =>
    fail(await unreachable(temporal, error)),
  )
}

/** @returns the deployment's id. */
export async function requireDatabase(sql: Sql, config: Config<'worker'>): Promise<string> {
  const { host, pathname } = new URL(config.DATABASE_URL)
  const limitMs = patienceMs(config)
  await retryFor(() => isReachable(sql), limitMs).catch((error: unknown) =>
    fail(unusableDatabase(`${host}${pathname}`, error)),
  )
  await retryFor(() => requireServiceLogin(sql, config), limitMs).catch((error: unknown) =>
    fail(`The role of DATABASE_URL cannot be checked: ${reasonOf(error)}. Start it again`),
  )
  const requireSchema = async () => {
    const remedy = await otherSchema(sql)
    if (remedy !== undefined) throw new Error(remedy)
  }
  await retryFor(requireSchema, limitMs).catch((error: unknown) => fail(reasonOf(error)))
  const deployment = () => requireDeployment(sql, config.ENVIRONMENT).catch(failIfOtherEnvironment)
  const id = await retryFor(deployment, limitMs).catch((error: unknown) =>
    fail(`The database cannot be used: ${reasonOf(error)}. Run npm run migrate`),
  )
  const remedy = await retryFor(() => lackingKeys(sql, config.ENCRYPTION_KEY), limitMs).catch(
    (error: unknown) =>
      fail(`The encryption keys in use cannot be checked: ${reasonOf(error)}. Start it again`),
  )
  if (remedy !== undefined) fail(remedy)
  return id
}

/** Requires a namespace that belongs to this deployment and has every search attribute. */
export async function requireNamespace(client: Client, guard: NamespaceGuard): Promise<void> {
  const { namespace } = client.options
  const failUnusable = (error: unknown): never =>
    fail(error instanceof OtherDeployment ? error.message : unusableNamespace(namespace, error))
  const missing = await missingSearchAttributes(client.connection, namespace).catch(failUnusable)
  if (missing.length > 0)
    fail(`Temporal’s namespace ${namespace} has no search attribute ${missing.join(', ')}. ${setUpNamespace}`)
  await guard().catch(failUnusable)
}
