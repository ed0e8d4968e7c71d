import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker'
import type { Logger } from 'pino'
import { createActivities } from '../activities/index.ts'
import { createMailer } from '../activities/mailer.ts'
import { httpScoreProvider, mockScoreProvider } from '../activities/score-providers.ts'
import { type Config, processEnvironment, readConfig } from './config.ts'
import { connect, sqlOf } from './db/orm.ts'
import { fail, orFail } from './fail.ts'
import { createLogger } from './logger.ts'
import { startHealthServer } from './health.ts'
import { createTemporalClient, temporalSettings, type TemporalSettings } from './temporal/client.ts'
import { createEndpointStarter } from './temporal/endpoints.ts'
import { TASK_QUEUE } from './temporal/names.ts'
import { createReferrals } from './temporal/referrals.ts'
import { sweep } from './temporal/sweep.ts'
import { webhookBody } from './webhooks/body.ts'
import { createSender, type Sender } from './webhooks/send.ts'

/** Above the 15 s of a webhook, so that a deployment cuts none off. */
const GRACE = '20 seconds'

const config = orFail(() => readConfig())
const log = createLogger(config.LOG_LEVEL, 'worker')
const temporal = temporalSettings(processEnvironment())
installLogger(log)
const connection = await connectToTemporal(temporal)
const orm = await connect(config.DATABASE_URL)
const sql = sqlOf(orm)
const client = createTemporalClient(temporal)
const referrals = createReferrals({ client, sql })
const sender = createSender({
  environment: config.ENVIRONMENT,
  allowPrivateNetwork: config.WEBHOOK_ALLOW_PRIVATE_NETWORK,
})
const worker = await Worker.create({
  connection,
  namespace: temporal.namespace,
  taskQueue: TASK_QUEUE,
  workflowsPath: new URL('../workflows/index.ts', import.meta.url).pathname,
  activities: createActivities(dependencies(config, sender)),
  dataConverter: {
    payloadConverterPath: new URL('../workflows/payload-converter.ts', import.meta.url).pathname,
  },
  interceptors: { workflowModules: [new URL('../workflows/interceptors.ts', import.meta.url).pathname] },
  shutdownGraceTime: GRACE,
  shutdownForceTime: '30 seconds',
})
const stopping = new AbortController()
const health = await startHealthServer(config, { isReady: async () => worker.getState() === 'RUNNING' })
const sweeping = sweep({
  sql,
  referrals,
  startEndpoint: createEndpointStarter(client),
  log,
  signal: stopping.signal,
})
stopOnSignals()
const running = worker.run()
log.info({ task_queue: TASK_QUEUE, namespace: temporal.namespace }, 'worker is polling')
process.send?.({ type: 'ready', metricsPort: health.port })
await running
stopping.abort()
await sweeping
await Promise.all([
  sender.close(),
  health.close(),
  client.connection.close(),
  connection.close(),
  orm.close(),
])
log.info('worker stopped')
process.disconnect?.()

function dependencies(settings: Config, { send }: Sender) {
  const environment = settings.ENVIRONMENT
  const { SCORE_PROVIDER_URL: url, SCORE_PROVIDER_TOKEN: token } = settings
  return {
    sql,
    log,
    send,
    referrals,
    encryptionKeys: settings.ENCRYPTION_KEY,
    staffEmail: settings.STAFF_EMAIL,
    webhookBody: (
      facts: Parameters<typeof webhookBody>[0] extends infer Event ? Omit<Event, 'environment'> : never,
    ) => webhookBody({ ...facts, environment }),
    scoreProvider: url === undefined ? mockScoreProvider : httpScoreProvider(url, token),
    mailer: createMailer({
      environment,
      smtpUrl: settings.SMTP_URL,
      from: settings.MAIL_FROM,
      allowDomains: settings.MAIL_ALLOW_DOMAINS,
    }),
  }
}

async function connectToTemporal({ connectionOptions }: TemporalSettings): Promise<NativeConnection> {
  try {
    return await NativeConnection.connect(connectionOptions)
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
