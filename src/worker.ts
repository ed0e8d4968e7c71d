import { setTimeout as delay } from 'node:timers/promises'
import { DefaultLogger, Runtime, Worker, type WorkerOptions } from '@temporalio/worker'
import type { Logger } from 'pino'
import { createFirstAttempts } from '../activities/first-attempts.ts'
import { type ActivityDependencies, createActivities, createWaitingActivities } from '../activities/index.ts'
import { createMailer } from '../activities/mailer.ts'
import { createOnboardingMails } from '../activities/onboarding-mails.ts'
import { httpScoreProvider, mockScoreProvider } from '../activities/score-providers.ts'
import { clockMovedSignal, deliveryFailedSignal, wakeSignal } from '../workflows/messages.ts'
import { misspeltSettings, processEnvironment, readConfig, readTemporal } from './config.ts'
import { readBacklog } from './core/deliveries/statements/backlog.ts'
import { createDeliveryGate } from './core/deliveries/statements/gate.ts'
import { workerPatience } from './core/database/mikro-orm.config.ts'
import {
  eraseRestored,
  erasuresLeftOut,
  overdueErasures,
  requireJournal,
} from './capabilities/erasure/worker.ts'
import { keepIntentsEnded } from './capabilities/erasure/intents-loop.ts'
import { erasureTools } from './capabilities/erasure/statements/journal.ts'
import { connect, sqlOf } from './core/database/orm.ts'
import { fail, orFail, reasonOf } from './fail.ts'
import { buildOf, watchFailedTasks } from './failed-tasks.ts'
import { createLogger } from './logger.ts'
import { startHealthServer } from './health.ts'
import { registerWaiting } from './metrics/waiting.ts'
import { createWorkerMetrics } from './metrics/worker.ts'
import { retained } from './retained.ts'
import { closeRequestedBy } from './core/leads/workflows/close-request.ts'
import { createTemporalClient } from './core/temporal/client.ts'
import { createEndpointStarter } from './core/endpoints/workflows/endpoints.ts'
import { createLeadEnder } from './capabilities/erasure/workflows/erasures.ts'
import { watchNamespace } from './core/temporal/namespace-guard.ts'
import { referralId, TASK_QUEUE } from './core/temporal/names.ts'
import { isPolling } from './core/temporal/polling.ts'
import { leadsActiveSince } from './capabilities/restore/workflows/active-leads.ts'
import { recordedBefore } from './core/leads/workflows/recorded-before.ts'
import { createReferrals } from './core/leads/workflows/referrals.ts'
import { advanceId } from './capabilities/sandbox/decisions/lead-clock.ts'
import { scenarioId } from './capabilities/sandbox/decisions/scenarios.ts'
import { createResendStarter } from './core/deliveries/workflows/resend.ts'
import { noteAlive } from './core/record/statements/alive.ts'
import { restoresLeftOut } from './capabilities/restore/worker.ts'
import { createAuditHeadLog } from './capabilities/audit/worker.ts'
import { requestsLeftOut } from './capabilities/self-service/worker.ts'
import { forScenarios, runsLeftOut } from './capabilities/sandbox/worker.ts'
import { resendsLeftOut } from './core/deliveries/worker.ts'
import { dueIncidents, endpointsLeftOut } from './core/endpoints/worker.ts'
import { keepForgetting } from './core/leads/forgetting-loop.ts'
import { unstarted } from './core/leads/worker.ts'
import { createFailedTasks } from './core/temporal/failed-tasks.ts'
import { watchFailing } from './core/temporal/failing-loop.ts'
import { keepReconciled } from './core/leads/workflows/reconcile-loop.ts'
import { keepRetention } from './capabilities/retention/retention-loop.ts'
import { sweep } from './core/temporal/sweep.ts'
import { waitingWorkerOptions, workerOptions } from './core/temporal/worker-options.ts'
import { idleVersion } from './core/temporal/worker-version.ts'
import { workflowBundle } from './workflow-bundle.ts'
import { webhookBody } from './core/deliveries/webhooks/body.ts'
import { createSender } from './core/deliveries/webhooks/send.ts'
import {
  connectToTemporal,
  requireDatabase,
  requireForRooms,
  requireNamespace,
} from './worker-requirements.ts'

const POLL_CHECK_MS = 100
/** How often a worker that is not ready yet says what it waits for. */
const WAITING_LOG_MS = 5000

const config = orFail(() => readConfig('worker'))
const temporal = orFail(() => readTemporal(config))
const log = createLogger(config.LOG_LEVEL, 'worker')
misspeltSettings(processEnvironment()).forEach((line) => log.warn(line))
installLogger(log)
if (config.SMTP_URL === undefined) log.warn('no emails are sent: SMTP_URL is not set')
log.info({ address: temporal.connectionOptions.address, namespace: temporal.namespace }, 'worker is starting')
// the longest part of the start; it needs no connection, and meanwhile the servers may become ready
const bundle = await workflowBundle()
const connection = await connectToTemporal(temporal)
const orm = await connect(config.DATABASE_URL, workerPatience)
const sql = sqlOf(orm)
const deploymentId = await requireDatabase(sql, config)
await requireForRooms(sql, config, [
  // that nothing is erased which a restored backup could bring back unnoticed
  requireJournal,
])
const { client, guard } = createTemporalClient(temporal, { deployment: async () => deploymentId, log })
const onCutOff = (facts: Record<string, unknown>) =>
  log.warn(facts, 'a lead’s workflow was ended from outside: it is started again')
const referrals = createReferrals({ client, sql, onCutOff })
const startEndpoint = createEndpointStarter(client)
const sender = createSender({
  environment: config.ENVIRONMENT,
  allowPrivateNetwork: config.WEBHOOK_ALLOW_PRIVATE_NETWORK,
})
const metrics = createWorkerMetrics(log, () => readBacklog(sql))
registerWaiting(metrics.registry, sql, [
  // by room
  overdueErasures,
])
const stopping = new AbortController()
/** Said in the log: no version lets this worker work. */
let isIdle = false
/** What rooms work with in this process. */
const shared = {
  client,
  sql,
  config,
  log,
  registry: metrics.registry,
  signal: stopping.signal,
  retained,
  besideLead: [
    // what moves its clock
    scenarioId,
    advanceId,
  ],
}
await requireNamespace(client, guard)
const attempting = {
  sql,
  // the other half is there for all else, however long endpoints take
  gate: createDeliveryGate({ places: Math.ceil(config.WORKER_ACTIVITIES / 2) }),
  send: sender.send,
  encryptionKeys: config.ENCRYPTION_KEY,
  observe: metrics.observe,
}
const firstAttempts = createFirstAttempts({ ...attempting, log })
const mailer = createMailer({
  environment: config.ENVIRONMENT,
  smtpUrl: config.SMTP_URL,
  isCatcher: config.SMTP_CATCHER,
  from: config.MAIL_FROM,
  allowDomains: config.MAIL_ALLOW_DOMAINS,
})
const mailLimits = {
  perAddress: config.ONBOARDING_MAILS_PER_ADDRESS,
  perPartner: config.ONBOARDING_MAILS_PER_PARTNER,
}
const onboardingMails = createOnboardingMails({ ...attempting, mailer, mailLimits })
const activities = createActivities(dependencies())
const worker = await createWorker({ ...workerOptions(config), workflowBundle: bundle, activities })
const failed = createFailedTasks()
watchFailedTasks(worker, failed)
const build = buildOf(worker)
const waitingWorker = await createWorker({
  ...waitingWorkerOptions(config),
  activities: createWaitingActivities(dependencies()),
})
const health = await startHealthServer(config, { findFault, registry: metrics.registry })
const sweeping = sweep({
  sql,
  swept: [
    unstarted(referrals, config.STARTS_IN_FLIGHT),
    endpointsLeftOut(startEndpoint),
    resendsLeftOut(createResendStarter(client)),
    restoresLeftOut(client),
    ...requestsLeftOut(client),
    erasuresLeftOut({ client, sql }),
    ...runsLeftOut(shared),
  ],
  chores: [
    // after a restore, it says since when events may be lost
    () => noteAlive(sql),
    createAuditHeadLog(sql, log),
    dueIncidents(sql, metrics.observe),
  ],
  log,
  signal: stopping.signal,
})
const reconciling = keepReconciled({ ...shared, referrals })
const keeping: Promise<void>[] = [
  // by room
  keepForgetting(shared),
  keepRetention(shared),
  keepIntentsEnded(shared),
]
const watchingTasks = watchFailing({ client, sql, failed, build, log, signal: stopping.signal })
const watching = watchNamespace(guard, { signal: stopping.signal, onLost: stopOnLoss })
stopOnSignals()
const running = Promise.all([worker.run(), waitingWorker.run()]).catch((error: unknown) =>
  fail(`The worker cannot continue: ${reasonOf(error)}`),
)
await untilPolling()
log.info({ task_queue: TASK_QUEUE, namespace: temporal.namespace, build }, 'worker is polling')
await findIdleVersion()
process.send?.({ type: 'ready', metricsPort: health.port })
await running
stopping.abort()
const settled = [firstAttempts.settled(), onboardingMails.settled()]
await Promise.all([sweeping, reconciling, ...keeping, watchingTasks, watching, ...settled])
await Promise.all([
  sender.close(),
  health.close(),
  client.connection.close(),
  connection.close(),
  orm.close(),
])
log.info('worker stopped')
if (process.connected) process.disconnect()

async function createWorker(options: Omit<WorkerOptions, 'connection' | 'namespace'>): Promise<Worker> {
  return Worker.create({ ...options, connection, namespace: temporal.namespace }).catch((error: unknown) =>
    fail(`The worker cannot start: ${reasonOf(error)}`),
  )
}

function shutdown(): void {
  for (const each of [worker, waitingWorker]) if (each.getState() === 'RUNNING') each.shutdown()
}

function dependencies(): ActivityDependencies {
  const { ENVIRONMENT: environment, SCORE_PROVIDER_URL: url, SCORE_PROVIDER_TOKEN: token } = config
  return {
    ...attempting,
    environment,
    firstAttempts,
    log,
    startEndpoint,
    erasure: erasureTools(config),
    endWorkflows: createLeadEnder(shared),
    onceRestored: [
      // before any workflow goes on with a lead that was erased
      eraseRestored(shared),
    ],
    ...forScenarios(referrals),
    closeRequestedBy: (leadId) => closeRequestedBy(client, leadId),
    wakeLead: (leadId) => referrals.signal(leadId, wakeSignal),
    recordedBefore: (leadId, createdAt) => recordedBefore(client, leadId, createdAt),
    leadsActiveSince: (since) => leadsActiveSince(client, since),
    takeOver: (leadId) => referrals.takeOver(leadId),
    tellClock: (leadId, offset) => referrals.signal(leadId, clockMovedSignal, { offset }),
    tellFailure: (leadId, failure) => {
      const handle = client.workflow.getHandle(referralId(leadId))
      const telling = handle.signal(deliveryFailedSignal, failure)
      telling.catch((error: unknown) => log.debug({ err: error, lead_id: leadId }, 'lead was not told'))
    },
    staffEmail: config.STAFF_EMAIL,
    webhookBody: (facts) => webhookBody({ ...facts, environment }),
    scoreProvider: url === undefined ? mockScoreProvider : httpScoreProvider(url, token),
    mailer,
    onboardingMails,
  }
}

/** Running is not enough: it is ready once it polls, and gets work. */
async function findFault(): Promise<string | undefined> {
  return (await findPollingFault()) ?? findIdleVersion()
}

async function findPollingFault(): Promise<string | undefined> {
  const state = worker.getState()
  if (state !== 'RUNNING') return `the worker is ${state.toLowerCase()}`
  const polls = await isPolling(client, worker.options.identity)
  return polls ? undefined : 'Temporal does not answer, or does not see this worker poll'
}

async function findIdleVersion(): Promise<string | undefined> {
  const { TEMPORAL_DEPLOYMENT_NAME: deploymentName, TEMPORAL_WORKER_BUILD_ID: buildId } = config
  if (deploymentName === undefined || buildId === undefined) return undefined
  const idle = await idleVersion(client, { deploymentName, buildId })
  // Temporal may know the version only some time after its first poll
  if (idle !== undefined && !isIdle) log.warn(idle)
  isIdle = idle !== undefined
  return idle
}

/** A cluster may take a minute to see a new worker poll, which would look like one that hangs. */
async function untilPolling(): Promise<void> {
  let saidAt = performance.now()
  for (;;) {
    const fault = worker.getState() === 'RUNNING' ? await findPollingFault() : undefined
    if (fault === undefined) return
    if (performance.now() - saidAt > WAITING_LOG_MS) {
      saidAt = performance.now()
      log.info({ waits_for: fault }, 'worker is not ready yet')
    }
    await delay(POLL_CHECK_MS)
  }
}

/** The guard has logged why. */
function stopOnLoss(): void {
  process.exitCode = 1
  shutdown()
}

function installLogger(logger: Logger): void {
  const levels = { TRACE: 'trace', DEBUG: 'debug', INFO: 'debug', WARN: 'warn', ERROR: 'error' } as const
  Runtime.install({
    logger: new DefaultLogger('INFO', ({ level, message, meta }) =>
      // the one that waits for the other has none by design
      logger[message.startsWith('No workflows registered') ? 'debug' : levels[level]](meta ?? {}, message),
    ),
    // else the native part of the SDK writes to the terminal, in colours
    telemetryOptions: { logging: { filter: { core: 'WARN', other: 'ERROR' }, forward: {} } },
    // signals are handled below
    shutdownSignals: [],
  })
}

function stopOnSignals(): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (worker.getState() !== 'RUNNING') return
      log.info({ signal }, 'worker is stopping')
      shutdown()
    })
  }
}
