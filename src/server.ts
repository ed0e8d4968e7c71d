import { readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { createSecureContext } from 'node:tls'
import { createReadLog } from './api/read-log.ts'
import { apiPatience, buildApp } from './app.ts'
import { type Config, misspeltSettings, processEnvironment, readConfig, readTemporal } from './config.ts'
import { isDatabaseAway } from './db/database-away.ts'
import { remembered, requireDeployment } from './db/deployment.ts'
import { lackingKeys } from './db/encryption-keys.ts'
import { connect, isReachable, sqlOf } from './db/orm.ts'
import { watchReadiness } from './db/readiness.ts'
import { insertKeyReads } from './db/reads/write.ts'
import { olderSchema } from './db/schema-version.ts'
import { fail, failIfOtherEnvironment, orFail, reasonOf } from './fail.ts'
import { startHealthServer } from './health.ts'
import { createLogger } from './logger.ts'
import { createApiMetrics } from './metrics/api.ts'
import { boundedStarts } from './temporal/bounded-starts.ts'
import { createClocks } from './temporal/clocks.ts'
import { createScenarios } from './temporal/scenarios.ts'
import { createTemporalClient } from './temporal/client.ts'
import { createEndpointRequests } from './temporal/endpoint-requests.ts'
import { createEndpointStarter } from './temporal/endpoints.ts'
import { createErasureStarter } from './temporal/erasures.ts'
import { OtherDeployment } from './temporal/namespace-claim.ts'
import { createReferrals } from './temporal/referrals.ts'
import { createResender } from './temporal/resend.ts'

const config = orFail(() => readConfig('api'))
const temporal = orFail(() => readTemporal(config))
const log = createLogger(config.LOG_LEVEL, 'api')
misspeltSettings(processEnvironment()).forEach((line) => log.warn(line))
const orm = await connect(config.DATABASE_URL, apiPatience)
const sql = sqlOf(orm)
const findFault = async () => (await olderSchema(sql)) ?? lackingKeys(sql, config.ENCRYPTION_KEY)
const hasNoFault = watchReadiness(findFault, (remedy) => log.error(remedy))
const deployment = remembered(() => requireDeployment(sql, config.ENVIRONMENT).catch(failIfOtherEnvironment))
const isDatabaseReady = async () => (await hasNoFault()) && deployment().then(() => true)
// if PostgreSQL is down, both are retried before a request is served
await isDatabaseReady().catch((error: unknown) =>
  log.warn(
    `the database cannot be used yet, and partners get 503: ${reasonOf(error)}. Check DATABASE_URL, and that PostgreSQL is running.`,
  ),
)
const { client } = createTemporalClient(temporal, { deployment, log })

const referrals = createReferrals({ client, sql })
const starts = boundedStarts(referrals, config.STARTS_IN_FLIGHT, (err, leadId) => {
  // logged once, not for each lead
  if (err instanceof OtherDeployment) return
  log.warn({ err, lead_id: leadId }, 'workflow not started yet: the sweep starts it')
})
const endpointRequests = createEndpointRequests(client)
const startEndpoint = createEndpointStarter(client)
const startErasure = createErasureStarter({ client, sql })
const leftToSweep = (starting: Promise<void>) =>
  void starting.catch((err: unknown) =>
    log.warn({ err }, 'a workflow is not started yet: the sweep starts it'),
  )
const reads = createReadLog({ write: (batch) => insertKeyReads(sql, batch), log })
const { registry, observeRequest, countRefusedConnection } = createApiMetrics()
const app = await buildApp({
  environment: config.ENVIRONMENT,
  sql,
  isDatabaseReady,
  log,
  startReferral: (state) => starts.offer(state),
  noteRead: (read) => reads.note(read),
  resendWebhook: createResender({
    client,
    sql,
    referrals: createReferrals({ client, sql, callLimitMs: 1500 }),
    onFailure: (err, partnerId) =>
      log.warn({ err, partner_id: partnerId }, 'resends not started yet: the sweep starts them'),
  }),
  simulate: (leadId, milestones) => referrals.simulate(leadId, milestones),
  clocks: createClocks({ client, sql }),
  scenarios: createScenarios(client),
  startRequest: (start) => leftToSweep(start(endpointRequests)),
  startEndpoint: (endpointId) => leftToSweep(startEndpoint(endpointId)),
  startErasure: (leadId) => leftToSweep(startErasure(leadId)),
  encryptionKeys: config.ENCRYPTION_KEY,
  allowPrivateNetwork: config.WEBHOOK_ALLOW_PRIVATE_NETWORK,
  sinkBase: sinkBaseOf(config),
  observeRequest,
  rateLimit: config.RATE_LIMIT,
  limits: { maxConnections: config.MAX_CONNECTIONS },
  ...readTls(config),
  ...(config.TRUST_PROXY !== undefined && { trustProxy: config.TRUST_PROXY }),
})
app.server.on('drop', countRefusedConnection)
const health = await startHealthServer(config, {
  findFault: () => findDatabaseFault().catch(sayDatabaseAway),
  registry,
})
stopOnSignals()
await listen(config)

async function listen({ HOST, PORT }: Config<'api'>): Promise<void> {
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
  const { port } = app.server.address() as AddressInfo
  process.send?.({ type: 'ready', port, metricsPort: health.port })
}

async function findDatabaseFault(): Promise<string | undefined> {
  if (!(await isDatabaseReady())) return 'the schema is older, or a key is missing: see the log'
  await isReachable(sql)
  return undefined
}

function sayDatabaseAway(error: unknown): string {
  return isDatabaseAway(error) ? 'PostgreSQL does not answer' : 'the database cannot be used: see the log'
}

/** Where the worker reaches this API: at SINK_URL, or where both are on one machine at the port itself. */
function sinkBaseOf({
  SINK_URL: url,
  WEBHOOK_ALLOW_PRIVATE_NETWORK: isLocal,
  TLS_CERT_FILE: cert,
}: Config<'api'>) {
  if (url !== undefined) return () => `${url.replace(/\/$/, '')}/v1`
  if (!isLocal || cert !== undefined) return undefined
  return () => `http://127.0.0.1:${(app.server.address() as AddressInfo).port}/v1`
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

/** Graceful shutdown: finishes the requests in flight, then closes the connections that they use. */
function stopOnSignals(): void {
  let stopping = false
  const stop = async () => {
    if (stopping) return
    stopping = true
    log.info('API is stopping')
    await app.close()
    await Promise.all([starts.settled(), reads.close()])
    await Promise.all([health.close(), client.connection.close(), orm.close()])
    if (process.connected) process.disconnect()
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => void stop())
}
