import { readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { createSecureContext } from 'node:tls'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import { inSandbox } from './sandbox/routes.ts'
import { createEndpointRequests, createEndpointStarter } from './endpoints/endpoint-workflows.ts'
import { apiPatience, buildApp } from './app.ts'
import { type Build, clientCertificate, type Config, type TemporalSettings } from './config.ts'
import { remembered, requireDeployment } from './database/deployment.ts'
import { lackingKeys } from './seal.ts'
import { connect } from './database/orm.ts'
import { sqlOf } from './database/sql.ts'
import {
  databaseRemedy,
  findDatabaseFault,
  requireServiceLogin,
  tellWhileUnusable,
  watchReadiness,
} from './database/readiness.ts'
import { otherSchema } from './database/schema.ts'
import { fail, failIfOtherEnvironment, reasonOf } from './fail.ts'
import { watchFirstAnswer } from './temporal/outage.ts'
import { startHealthServer } from './observe/health.ts'
import { createApiMetrics, registerProcess } from './observe/process-metrics.ts'
import { boundedStarts, createReferrals } from './leads/referrals.ts'
import { createTemporalClient, reachTemporal } from './temporal/client.ts'
import { referralId } from './temporal/names.ts'
import { OtherDeployment } from './temporal/namespace-guard.ts'
import { createResender } from './deliveries/resends.ts'

export interface ApiSettings {
  config: Config<'api'>
  temporal: TemporalSettings
  build: Build
  log: Logger
  /** Gets what ends it, just before it listens. A call that is hurried, or a second one, does not wait for balancers. */
  stopWith: (stop: (isHurried: boolean) => Promise<void>) => void
}

/** Starts the API: everything that it works with, and the server. Ends the process if it cannot serve. */
export async function runApi({ config, temporal, build, log, stopWith }: ApiSettings) {
  const orm = await connect(config.DATABASE_URL, apiPatience, { connections: config.DATABASE_POOL })
  const sql = sqlOf(orm)
  const findRemedy = async () => {
    await requireServiceLogin(sql, config)
    return (await otherSchema(sql)) ?? lackingKeys(sql, config.ENCRYPTION_KEY)
  }
  const hasNoFault = watchReadiness(findRemedy, (remedy) => log.error(remedy))
  const deployment = remembered(() =>
    requireDeployment(sql, config.ENVIRONMENT).catch(failIfOtherEnvironment),
  )
  const isDatabaseReady = async () => (await hasNoFault()) && deployment().then(() => true)
  // if PostgreSQL is down, both are retried before a request is served
  await isDatabaseReady().catch(() => void tellWhileUnusable(isDatabaseReady, log))
  const { client, guard } = createTemporalClient(temporal, { deployment, log })
  /** Aborted by the first call of `stop`; `hurry` by one that does not let it wait. */
  const draining = new AbortController()
  const hurry = new AbortController()
  let stopping: Promise<void> | undefined

  const referrals = createReferrals({ client, sql })
  const starts = boundedStarts(referrals, config.STARTS_IN_FLIGHT, (err, leadId) => {
    // logged once, not for each lead
    if (err instanceof OtherDeployment) return
    log.warn(
      { err, lead_id: leadId, workflow_id: referralId(leadId) },
      'workflow not started yet: the sweep starts it',
    )
  })
  const startEndpoint = createEndpointStarter(client)
  const leftToSweep = (starting: Promise<void>) =>
    void starting.catch((err: unknown) =>
      log.warn({ err }, 'a workflow is not started yet: the worker starts it'),
    )
  const tlsFiles = readTls(config)
  const { registry, observeRequest, countRefusedConnection } = createApiMetrics()
  registerProcess(registry, {
    build,
    orm,
    findDatabaseFault: findSharedFault,
    reachTemporal: () => reachTemporal(client),
    certificates: { api: tlsFiles.tls?.cert, temporal_client: clientCertificate(temporal) },
  })
  const tools = {
    environment: config.ENVIRONMENT,
    client,
    sql,
    referrals,
    log,
    leftToSweep,
    sinkBase: sinkBaseOf(config, () => portOf(app)),
  }
  const app = await buildApp({
    environment: config.ENVIRONMENT,
    sql,
    ...inSandbox(tools),
    endpointRequests: createEndpointRequests(client),
    allowPrivateNetwork: config.WEBHOOK_ALLOW_PRIVATE_NETWORK,
    egressAddresses: config.EGRESS_ADDRESSES,
    erasureLog: config.ERASURE_LOG,
    isDatabaseReady,
    log,
    startReferral: (state) => starts.offer(state),
    closeLead: async (leadId, reason, id) => referrals.close(leadId, reason, id),
    resendWebhook: createResender(client, referrals),
    startEndpoint: (endpointId) => leftToSweep(startEndpoint(endpointId)),
    encryptionKeys: config.ENCRYPTION_KEY,
    observeRequest,
    rateLimit: config.RATE_LIMIT,
    limits: { maxConnections: config.MAX_CONNECTIONS },
    ...tlsFiles,
    ...(config.TRUST_PROXY !== undefined && { trustProxy: config.TRUST_PROXY }),
  })
  app.server.on('drop', countRefusedConnection)
  const health = await startHealthServer(config, { findFault, findSharedFault, registry })
  void watchFirstAnswer({ client, guard, temporal, log, signal: draining.signal })
  stopWith(stop)
  await listen(app, config)
  return { port: portOf(app), metricsPort: health.port }

  /**
   * Why a balancer should send this process nothing. That PostgreSQL is away is no reason once it was there: it is away for
   * all, and a partner should get our 503 with Retry-After, not an error of a balancer that has nobody left.
   */
  async function findFault(): Promise<string | undefined> {
    if (draining.signal.aborted) return 'it is stopping'
    return isDatabaseReady().then(sayUnusable, databaseRemedy)
  }

  /** Why no process can serve partners now. */
  async function findSharedFault(): Promise<string | undefined> {
    return (await isDatabaseReady().then(sayUnusable, databaseRemedy)) ?? findDatabaseFault(sql)
  }

  /**
   * On SIGTERM it is unready at once and goes on taking requests until balancers have noticed. Then it finishes the requests in
   * flight and closes the connections that they use.
   */
  function stop(isHurried: boolean): Promise<void> {
    if (isHurried || draining.signal.aborted) hurry.abort()
    stopping ??= drainAndClose()
    return stopping
  }

  async function drainAndClose(): Promise<void> {
    draining.abort()
    log.info({ drain_seconds: config.DRAIN_SECONDS }, 'API is stopping')
    app.drain()
    await delay(config.DRAIN_SECONDS * 1000, undefined, { signal: hurry.signal }).catch(() => undefined)
    await app.close()
    await starts.settled()
    await Promise.all([health.close(), client.connection.close(), orm.close()])
  }
}

const portOf = (app: FastifyInstance) => (app.server.address() as AddressInfo).port

const sayUnusable = (isUsable: boolean) =>
  isUsable ? undefined : 'the schema is another, or a key is missing: see the log'

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

/** Where the worker reaches this API: at SINK_URL, or where both are on one machine at the port itself. */
function sinkBaseOf(
  {
    SINK_URL: url,
    WEBHOOK_ALLOW_PRIVATE_NETWORK: isLocal,
    TLS_CERT_FILE: cert,
    TRUST_PROXY: proxy,
  }: Config<'api'>,
  port: () => number,
) {
  if (url !== undefined) return () => `${url.replace(/\/$/, '')}/v1`
  if (!isLocal || cert !== undefined || proxy !== undefined) return undefined
  return () => `http://127.0.0.1:${port()}/v1`
}

function readTls({ TLS_CERT_FILE: cert, TLS_KEY_FILE: key }: Config<'api'>) {
  if (cert === undefined || key === undefined) return {}
  try {
    const tls = { cert: readFileSync(cert), key: readFileSync(key) }
    createSecureContext(tls)
    return { tls }
  } catch (error) {
    return fail(`TLS_CERT_FILE or TLS_KEY_FILE cannot be used: ${reasonOf(error)}`)
  }
}
