import { setTimeout as delay } from 'node:timers/promises'
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker'
import type { Logger } from 'pino'
import { createActivities } from '../activities/index.ts'
import { retryFor } from '../activities/retry-for.ts'
import { createMailer } from '../activities/mailer.ts'
import { httpScoreProvider, mockScoreProvider } from '../activities/score-providers.ts'
import { deliveryFailedSignal, wakeSignal } from '../workflows/messages.ts'
import { type Config, processEnvironment, readConfig } from './config.ts'
import { readBacklog } from './db/deliveries/backlog.ts'
import { workerPatience } from './db/mikro-orm.config.ts'
import { requireDeployment } from './db/deployment.ts'
import { connect, isReachable, type Sql, sqlOf } from './db/orm.ts'
import { createPartnerGate } from './db/endpoints/partner-gate.ts'
import { olderSchema } from './db/schema-version.ts'
import { keysOfLiveSecrets } from './db/endpoints/secret-keys.ts'
import type { DeliveryFailure } from './domain/referral.ts'
import { fail, failIfOtherEnvironment, orFail } from './fail.ts'
import { createLogger } from './logger.ts'
import { startHealthServer } from './health.ts'
import { reasonOf, requireNamespace } from './require-namespace.ts'
import { createWorkerMetrics } from './metrics/worker.ts'
import { createTemporalClient, temporalSettings, type TemporalSettings } from './temporal/client.ts'
import { createEndpointStarter } from './temporal/endpoints.ts'
import { watchNamespace } from './temporal/namespace-guard.ts'
import { referralId, TASK_QUEUE } from './temporal/names.ts'
import { isPolling } from './temporal/polling.ts'
import { createReferrals } from './temporal/referrals.ts'
import { createResendStarter } from './temporal/resend.ts'
import { keepReconciled } from './jobs/reconcile-loop.ts'
import { sweep } from './jobs/sweep.ts'
import { workerOptions } from './temporal/worker-options.ts'
import { workflowBundle } from './workflow-bundle.ts'
import { webhookBody } from './webhooks/body.ts'
import { keyId } from './webhooks/secrets.ts'
import { createSender, type Sender } from './webhooks/send.ts'

const POLL_CHECK_MS = 100
/** Temporal and PostgreSQL may be starting too. */
const START_PATIENCE_MS = 10_000

const config = orFail(() => readConfig('worker'))
const log = createLogger(config.LOG_LEVEL, 'worker')
const temporal = temporalSettings(processEnvironment())
installLogger(log)
// the longest part of starting, and it needs no connection: whatever else is starting becomes ready meanwhile
const bundle = await workflowBundle()
const connection = await connectToTemporal(temporal)
const orm = await connect(config.DATABASE_URL, workerPatience)
const sql = sqlOf(orm)
await requireDatabase(sql, config)
await requireSchema(sql)
const deploymentId = await deploymentOf(sql, config)
await requireEncryptionKeys(sql, config)
const { client, guard } = createTemporalClient(temporal, { deployment: async () => deploymentId, log })
const referrals = createReferrals({ client, sql })
const sender = createSender({
  environment: config.ENVIRONMENT,
  allowPrivateNetwork: config.WEBHOOK_ALLOW_PRIVATE_NETWORK,
})
const metrics = createWorkerMetrics(log, () => readBacklog(sql))
await requireNamespace({ client, guard })
const worker = await Worker.create({
  ...workerOptions(config),
  workflowBundle: bundle,
  connection,
  namespace: temporal.namespace,
  activities: createActivities(dependencies(config, sender)),
}).catch((error: unknown) => fail(`The worker cannot begin: ${reasonOf(error)}`))
const stopping = new AbortController()
const health = await startHealthServer(config, { isReady, registry: metrics.registry })
const sweeping = sweep({
  sql,
  referrals,
  startEndpoint: createEndpointStarter(client),
  startResends: createResendStarter(client),
  observe: metrics.observe,
  log,
  signal: stopping.signal,
})
const reconciling = keepReconciled({ client, sql, referrals, log, signal: stopping.signal })
const watching = watchNamespace(guard, { signal: stopping.signal, onLost: stopOnLoss })
stopOnSignals()
const running = worker.run().catch((error: unknown) => fail(`The worker cannot go on: ${reasonOf(error)}`))
await until(isReady)
log.info({ task_queue: TASK_QUEUE, namespace: temporal.namespace }, 'worker is polling')
process.send?.({ type: 'ready', metricsPort: health.port })
await running
stopping.abort()
await Promise.all([sweeping, reconciling, watching])
await Promise.all([
  sender.close(),
  health.close(),
  client.connection.close(),
  connection.close(),
  orm.close(),
])
log.info('worker stopped')
if (process.connected) process.disconnect()

function dependencies(settings: Config<'worker'>, { send }: Sender) {
  const environment = settings.ENVIRONMENT
  const { SCORE_PROVIDER_URL: url, SCORE_PROVIDER_TOKEN: token } = settings
  return {
    sql,
    gate: createPartnerGate(),
    log,
    send,
    observe: metrics.observe,
    wakeLead: (leadId: number) => referrals.signal(leadId, wakeSignal),
    tellFailure: (leadId: number, failure: DeliveryFailure) => {
      const handle = client.workflow.getHandle(referralId(leadId))
      const telling = handle.signal(deliveryFailedSignal, failure)
      telling.catch((error: unknown) => log.debug({ err: error, lead_id: leadId }, 'lead was not told'))
    },
    encryptionKeys: settings.ENCRYPTION_KEY,
    staffEmail: settings.STAFF_EMAIL,
    webhookBody: (
      facts: Parameters<typeof webhookBody>[0] extends infer Event ? Omit<Event, 'environment'> : never,
    ) => webhookBody({ ...facts, environment }),
    scoreProvider: url === undefined ? mockScoreProvider : httpScoreProvider(url, token),
    mailer: createMailer({
      environment,
      smtpUrl: settings.SMTP_URL,
      isCatcher: settings.SMTP_CATCHER,
      from: settings.MAIL_FROM,
      allowDomains: settings.MAIL_ALLOW_DOMAINS,
    }),
  }
}

/** Polls, and not only runs. */
async function isReady(): Promise<boolean> {
  return worker.getState() === 'RUNNING' && (await isPolling(client, worker.options.identity))
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (worker.getState() === 'RUNNING' && !(await holds())) await delay(POLL_CHECK_MS)
}

/** A wrong address would show as activities that fail, lead by lead. */
async function requireDatabase(database: Sql, { DATABASE_URL: url }: Config<'worker'>): Promise<void> {
  const { host, pathname } = new URL(url)
  try {
    await retryFor(() => isReachable(database), START_PATIENCE_MS)
  } catch (error) {
    fail(
      `PostgreSQL does not answer at ${host}${pathname}: start it, or set DATABASE_URL (${reasonOf(error)})`,
    )
  }
}

/** A migration may be under way. */
async function requireSchema(database: Sql): Promise<void> {
  const refuseOlder = async () => {
    const remedy = await olderSchema(database)
    if (remedy !== undefined) throw new Error(remedy)
  }
  await retryFor(refuseOlder, START_PATIENCE_MS).catch((error: unknown) => fail(reasonOf(error)))
}

/** Without the key of a secret its partner's webhooks could not be signed, one by one. */
async function requireEncryptionKeys(
  database: Sql,
  { ENCRYPTION_KEY: keys }: Config<'worker'>,
): Promise<void> {
  const ours = new Set(keys.map(keyId))
  const missing = (await keysOfLiveSecrets(database)).filter((used) => !ours.has(used.keyId))
  if (missing.length === 0) return
  const endpoints = missing.reduce((sum, used) => sum + used.endpoints, 0)
  const secrets = endpoints === 1 ? 'secret of 1 endpoint needs' : `secrets of ${endpoints} endpoints need`
  fail(
    `ENCRYPTION_KEY lacks the key ${missing.map((used) => used.keyId).join(', ')}, which the signing ${secrets}: add it after the current one, separated by a comma; if it is lost, run npm run staff -- endpoint rotate-secret PARTNER --overlap 0`,
  )
}

/** Where migrations are being applied, they are waited for. */
async function deploymentOf(database: Sql, { ENVIRONMENT }: Config<'worker'>): Promise<string> {
  const ask = () => requireDeployment(database, ENVIRONMENT).catch(failIfOtherEnvironment)
  return retryFor(ask, START_PATIENCE_MS).catch((error: unknown) =>
    fail(`The database cannot be used: ${reasonOf(error)}. Run npm run migrate`),
  )
}

/** The guard has said why. */
function stopOnLoss(): void {
  process.exitCode = 1
  if (worker.getState() === 'RUNNING') worker.shutdown()
}

async function connectToTemporal({ connectionOptions }: TemporalSettings): Promise<NativeConnection> {
  try {
    return await retryFor(() => NativeConnection.connect(connectionOptions), START_PATIENCE_MS)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return fail(
      `Temporal does not answer at ${connectionOptions.address}: start it, or set TEMPORAL_ADDRESS (${reason})`,
    )
  }
}

function installLogger(logger: Logger): void {
  const levels = { TRACE: 'trace', DEBUG: 'debug', INFO: 'debug', WARN: 'warn', ERROR: 'error' } as const
  Runtime.install({
    logger: new DefaultLogger('INFO', ({ level, message, meta }) =>
      logger[levels[level]](meta ?? {}, message),
    ),
    // signals are ours: API, worker and servers stop in an order
    shutdownSignals: [],
  })
}

function stopOnSignals(): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (worker.getState() !== 'RUNNING') return
      log.info({ signal }, 'worker is stopping')
      worker.shutdown()
    })
  }
}
