import { readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { createSecureContext } from 'node:tls'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import { retryFor } from '../activities/activity-context.ts'
import { buildApp } from './app.ts'
import { type Build, type Config, type TemporalSettings } from './config.ts'
import { remembered } from './database/deployment.ts'
import { connect, patience } from './database/orm.ts'
import { databaseRemedy, findDatabaseFault, requireOwnRecord } from './database/readiness.ts'
import { sqlOf } from './database/sql.ts'
import { createResender } from './deliveries/resends.ts'
import { createEndpointStarter, createPing } from './endpoints/endpoint-workflows.ts'
import { fail, reasonOf } from './fail.ts'
import { createReferrals } from './leads/referrals.ts'
import { boundedStarts, STARTS_IN_FLIGHT } from './leads/sweep-starts.ts'
import { startHealthServer } from './observe/health.ts'
import { createApiMetrics, registerProcess } from './observe/process-metrics.ts'
import { createIsMoving } from './sandbox/ask-lead.ts'
import { unreachable } from './temporal/away.ts'
import { createTemporalClient, reachTemporal } from './temporal/client.ts'
import { referralId } from './temporal/names.ts'
import { OtherDeployment } from './temporal/namespace-guard.ts'

interface ApiSettings {
  config: Config<'api'>
  temporal: TemporalSettings
  build: Build
  log: Logger
}

/** PostgreSQL and Temporal may start at the same time: with `npm start`, they do. */
const START_MS = 5000

/**
 * Starts the API: its connections and its server. Ends the process if it cannot serve.
 *
 * @returns `stop`, which first waits until balancers have noticed, unless `isHurried` or called again.
 */
export async function runApi({ config, temporal, build, log }: ApiSettings) {
  const { ENVIRONMENT: environment, ENCRYPTION_KEY: encryptionKeys } = config
  const { orm, sql, record } = await openDatabase(config, log)
  const { client, guard } = createTemporalClient(temporal, { deployment: record, log })
  const referrals = createReferrals({ client, sql })
  const starts = boundedStarts(referrals, STARTS_IN_FLIGHT[environment], logFailedStart(log))
  const startEndpoint = createEndpointStarter(client)
  const tls = readTls(config)
  const { registry, observeRequest, countRefusedConnection } = createApiMetrics()
  const app = await buildApp({
    environment,
    sql,
    encryptionKeys,
    requireRecord: record,
    log,
    observeRequest,
    erasureLog: config.ERASURE_LOG,
    startReferral: (state) => starts.offer(state),
    closeLead: async (leadId, reason, id) => referrals.close(leadId, reason, id),
    resendWebhook: createResender({ sql, wakeLead: referrals.wake, startEndpoint }).resend,
    startEndpoint: (partnerId) =>
      void startEndpoint(partnerId).catch((err: unknown) =>
        log.warn({ err }, 'an endpoint’s workflow is not started yet: the worker starts it'),
      ),
    endpointRequests: { certify: startEndpoint, ping: createPing(client) },
    allowPrivateNetwork: config.WEBHOOK_ALLOW_PRIVATE_NETWORK,
    sandbox: {
      referrals,
      isMoving: createIsMoving(client),
      reachTemporal: () => reachTemporal(client),
      sinkBase: sinkBaseOf(config, () => portOf(app)),
    },
    rateLimit: config.RATE_LIMIT ?? (environment === 'production' ? 600 : 0),
    ...(tls && { tls }),
    ...(config.TRUST_PROXY !== undefined && { trustProxy: config.TRUST_PROXY }),
  })
  app.server.on('drop', countRefusedConnection)

  let stopping: Promise<void> | undefined
  const findRecordFault = async () => record().then(() => undefined, databaseRemedy)
  /** Why no process can serve partners now. */
  const findSharedFault = async () => (await findRecordFault()) ?? findDatabaseFault(sql)
  /**
   * Why a balancer should send this process no requests. An outage of PostgreSQL after a good start is no reason: every
   * process has it, and partners should get our 503 with Retry-After, not the error of a balancer without targets.
   */
  const findFault = async () => (stopping ? 'it is stopping' : findRecordFault())

  registerProcess(registry, {
    build,
    orm,
    findDatabaseFault: findSharedFault,
    reachTemporal: () => reachTemporal(client),
  })
  const health = await startHealthServer(config, { findFault, findSharedFault, registry })
  // a wrong setting would show only as leads that get no workflow
  retryFor(() => reachTemporal(client).then(guard), START_MS).catch((error: unknown) => {
    if (stopping === undefined)
      log.warn(`${unreachable(temporal, error)}. Leads are accepted, and their workflows start later.`)
  })
  await listen(app, config)

  /** Aborted to end the wait early. */
  const hurry = new AbortController()
  /** Reports unready at once, serves until balancers have noticed, and then finishes the requests in flight. */
  const drainAndClose = async () => {
    log.info({ drain_seconds: config.DRAIN_SECONDS }, 'API is stopping')
    app.drain()
    await delay(config.DRAIN_SECONDS * 1000, undefined, { signal: hurry.signal }).catch(() => undefined)
    await app.close()
    await starts.settled()
    await Promise.all([health.close(), orm.close()])
  }
  const stop = async (isHurried: boolean) => {
    if (isHurried || stopping !== undefined) hurry.abort()
    stopping ??= drainAndClose()
    await stopping
  }
  return { port: portOf(app), metricsPort: health.port, stop }
}

/** Checks the record, and, if PostgreSQL is down now, again before each request is served. */
async function openDatabase(config: Config<'api'>, log: Logger) {
  const orm = await connect(config.DATABASE_URL, patience.api, config.DATABASE_POOL)
  const sql = sqlOf(orm)
  const record = remembered(() => requireOwnRecord(sql, config))
  const tellFault = (error: unknown) => log.warn(`partners get 503: ${databaseRemedy(error)}`)
  await record().catch(() => void retryFor(record, START_MS).catch(tellFault))
  return { orm, sql, record }
}

const logFailedStart = (log: Logger) => (err: unknown, leadId: number) => {
  // logged once, not for each lead
  if (err instanceof OtherDeployment) return
  const lead = { lead_id: leadId, workflow_id: referralId(leadId) }
  log.warn({ err, ...lead }, 'workflow not started yet: the sweep starts it')
}

const portOf = (app: FastifyInstance) => (app.server.address() as AddressInfo).port

async function listen(app: FastifyInstance, { HOST, PORT }: Config<'api'>): Promise<void> {
  try {
    await app.listen({
      // for localhost Fastify starts two servers, and the second one would have none of our limits
      host: HOST === 'localhost' ? '127.0.0.1' : HOST,
      port: PORT,
      listenTextResolver: (address) => `API is listening at ${address}/v1`,
    })
  } catch (error) {
    fail(`The API cannot listen on ${HOST}:${PORT}: ${reasonOf(error)}. Free the port, or set PORT.`)
  }
}

/** Where the worker reaches this API: at SINK_URL, or at the port itself where both run on one machine. */
function sinkBaseOf(config: Config<'api'>, port: () => number) {
  const { SINK_URL: url, TLS_CERT_FILE: cert, TRUST_PROXY: proxy } = config
  if (url !== undefined) return () => `${url.replace(/\/$/, '')}/v1`
  if (!config.WEBHOOK_ALLOW_PRIVATE_NETWORK || (cert ?? proxy) !== undefined) return undefined
  return () => `http://127.0.0.1:${port()}/v1`
}

function readTls({ TLS_CERT_FILE: cert, TLS_KEY_FILE: key }: Config<'api'>) {
  if (cert === undefined || key === undefined) return undefined
  try {
    const tls = { cert: readFileSync(cert), key: readFileSync(key) }
    createSecureContext(tls)
    return tls
  } catch (error) {
    return fail(`TLS_CERT_FILE or TLS_KEY_FILE cannot be used: ${reasonOf(error)}`)
  }
}
