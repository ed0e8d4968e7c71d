import proxyAddr from '@fastify/proxy-addr'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import { certifyEndpoint } from './capabilities/self-service/routes/certify-endpoint.ts'
import { consolePage } from './console/page.ts'
import { scenarioCompanion } from './capabilities/sandbox/companion.ts'
import { setUpGuide } from './capabilities/self-service/guide.ts'
import { createLead } from './core/leads/routes/create-lead.ts'
import { exportLead } from './capabilities/access/routes/export-lead.ts'
import { eraseLead, type EraseLeadOptions } from './capabilities/erasure/routes/erase-lead.ts'
import { getDeliveries } from './core/deliveries/routes/get-deliveries.ts'
import { getEndpoint } from './capabilities/self-service/routes/get-endpoint.ts'
import { getEvents } from './core/leads/routes/get-events.ts'
import { getLead } from './core/leads/routes/get-lead.ts'
import { type ConnectionLimits, connectionLimits, createHttpServer } from './core/http/http-server.ts'
import { listEvents } from './core/leads/routes/list-events.ts'
import { listLeads } from './core/leads/routes/list-leads.ts'
import { openapi } from './core/http/openapi/document.ts'
import { pauseEndpoint } from './capabilities/self-service/routes/pause-endpoint.ts'
import { named } from './core/http/named.ts'
import { ping } from './core/http/ping.ts'
import { authentication } from './core/http/plugins/authentication.ts'
import { failures } from './core/http/plugins/failures.ts'
import { gracefulClose } from './core/http/plugins/graceful-close.ts'
import { httpsRequired } from './core/http/plugins/https-required.ts'
import { jsonBody } from './core/http/plugins/json-body.ts'
import { rateLimits } from './core/http/plugins/rate-limits.ts'
import { requestLog } from './core/http/plugins/request-log.ts'
import { securityHeaders } from './core/http/plugins/security-headers.ts'
import type { NoteRead } from './core/audit/read-log.ts'
import { resendWebhook } from './core/deliveries/routes/resend-webhook.ts'
import { rotateEndpointSecret } from './capabilities/self-service/routes/rotate-endpoint-secret.ts'
import type { StartRequest } from './capabilities/self-service/routes/self-service.ts'
import { sandboxRoutes, sinkRoutes } from './capabilities/sandbox/routes/routes.ts'
import { useSink } from './capabilities/sandbox/self-service/routes/use-sink.ts'
import { sink } from './capabilities/sandbox/routes/sink.ts'
import { setEndpoint } from './capabilities/self-service/routes/set-endpoint.ts'
import { testEndpoint } from './capabilities/self-service/routes/test-endpoint.ts'
import type { TlsFiles } from './core/http/tls.ts'
import { updatePartnerInfo } from './core/leads/routes/update-partner-info.ts'
import type { Sql } from './core/database/orm.ts'
import { IDLE_IN_TRANSACTION_MS, type Patience } from './core/database/session-options.ts'
import type { Environment } from './core/values/environment.ts'
import type { ReferralState } from './core/leads/decisions/referral.ts'
import type { WebhookFacts } from './core/deliveries/decisions/webhook-facts.ts'
import type { ObserveRequest } from './metrics/api.ts'
import type { Clocks } from './capabilities/sandbox/workflows/clocks.ts'
import type { Referrals } from './core/leads/workflows/referrals.ts'
import type { Scenarios } from './capabilities/sandbox/workflows/scenarios.ts'
import type { ResendWebhook } from './core/deliveries/workflows/resend.ts'
import { webhookBody } from './core/deliveries/webhooks/body.ts'

export interface AppDependencies {
  environment: Environment
  sql: Sql
  /** Whether the database is migrated, can be decrypted and belongs to this deployment. Until then, nothing is served from it. */
  isDatabaseReady: () => Promise<boolean>
  log: Logger
  startReferral: (state: ReferralState) => void
  /** Notes which key got which borrower's personal data. */
  noteRead: NoteRead
  resendWebhook: ResendWebhook
  /** Sandbox only. */
  simulate: Referrals['simulate']
  /** Sandbox only. */
  clocks: Clocks
  /** Sandbox only. */
  scenarios: Scenarios
  /** Starts what a partner asked for its endpoint, without waiting; if that fails, the sweep does. */
  startRequest: StartRequest
  startEndpoint: (endpointId: number) => void
  startErasure: EraseLeadOptions['startErasure']
  encryptionKeys: readonly Buffer[]
  /** Allows endpoints at loopback and private addresses. */
  allowPrivateNetwork: boolean
  /** Where the worker reaches this API, with `/v1`; absent where it does not, which then offers no sink. */
  sinkBase?: (() => string) | undefined
  observeRequest: ObserveRequest
  /** Requests per minute for each partner, and for each address without a key; 0 means no limit. */
  rateLimit: number
  /** Those that differ from `connectionLimits`. */
  limits?: Partial<ConnectionLimits>
  tls?: TlsFiles
  /** Addresses and networks of TLS proxies, comma-separated. */
  trustProxy?: string
}

/** If PostgreSQL is slow or down, partners get SERVICE_UNAVAILABLE within two seconds. */
export const apiPatience: Patience = {
  connectMs: 1000,
  lockMs: 1000,
  statementMs: 1200,
  silenceMs: 1500,
  idleInTransactionMs: IDLE_IN_TRANSACTION_MS,
}

/** The API, with the one list of its plugins and routes. It does not listen yet. */
export async function buildApp(dependencies: AppDependencies): Promise<FastifyInstance> {
  const { environment, sql, isDatabaseReady, log, tls, rateLimit: perMinute } = dependencies
  const limits = { ...connectionLimits, ...dependencies.limits }
  const isProxy = proxiesOf(dependencies.trustProxy)
  const app = createHttpServer({ log, limits, tls, isProxy })
  await app.register(gracefulClose, { stopMs: limits.stopMs })
  await app.register(requestLog, { observeRequest: dependencies.observeRequest })
  await app.register(securityHeaders)
  await app.register(httpsRequired, { isProxy: dependencies.trustProxy === undefined ? undefined : isProxy })
  await app.register(rateLimits, { perMinute })
  await app.register(failures)
  await app.register(jsonBody)
  await app.register(authentication, { sql, environment, isDatabaseReady })
  await app.register(openapi, {
    environment,
    setUp: [setUpGuide],
  })
  const {
    startReferral,
    noteRead,
    resendWebhook: resend,
    startEndpoint,
    simulate,
    clocks,
    scenarios,
  } = dependencies
  const { encryptionKeys, startRequest, allowPrivateNetwork, sinkBase } = dependencies
  const selfService = { sql, policy: { environment, allowPrivateNetwork }, encryptionKeys, startRequest }
  if (environment === 'sandbox') await app.register(named(consolePage))
  await app.register(named(ping), { prefix: '/v1', environment })
  if (environment === 'sandbox' && sinkBase !== undefined)
    await app.register(named(sink), { prefix: '/v1', sql, encryptionKeys })
  await app.register(
    named(async function routesWithKey(withKey: FastifyInstance) {
      withKey.addHook('onRequest', (request) => withKey.authenticate(request))
      const body = (facts: WebhookFacts) => webhookBody({ ...facts, environment })
      await withKey.register(named(createLead), {
        sql,
        encryptionKeys,
        environment,
        webhookBody: body,
        startReferral,
        companion: environment === 'sandbox' ? scenarioCompanion(scenarios) : undefined,
      })
      await withKey.register(named(getLead), { sql, encryptionKeys, noteRead })
      await withKey.register(named(getEvents), { sql })
      await withKey.register(named(updatePartnerInfo), { sql, encryptionKeys })
      await withKey.register(named(getDeliveries), { sql })
      await withKey.register(named(resendWebhook), { sql, resendWebhook: resend })
      await withKey.register(named(getEndpoint), { sql })
      await withKey.register(named(setEndpoint), selfService)
      await withKey.register(named(certifyEndpoint), selfService)
      await withKey.register(named(rotateEndpointSecret), selfService)
      await withKey.register(named(testEndpoint), selfService)
      await withKey.register(named(pauseEndpoint), { ...selfService, startEndpoint })
      await withKey.register(named(listEvents), { sql })
      await withKey.register(named(listLeads), { sql })
      await withKey.register(named(exportLead), { sql, encryptionKeys, noteRead })
      await withKey.register(named(eraseLead), { sql, environment, startErasure: dependencies.startErasure })
      if (environment === 'sandbox') {
        const lead = { sql, encryptionKeys, webhookBody: body, startReferral }
        await withKey.register(named(sandboxRoutes), { ...lead, simulate, clocks, scenarios })
      }
      if (environment === 'sandbox' && sinkBase !== undefined) {
        await withKey.register(named(useSink), { ...selfService, sinkBase })
        await withKey.register(named(sinkRoutes), { sql, sinkBase })
      }
    }),
    { prefix: '/v1' },
  )
  return app
}

/** Tells whether an address is one of the trusted proxies. */
function proxiesOf(trustProxy: string | undefined): (address: string) => boolean {
  if (trustProxy === undefined) return () => false
  const isNamed = proxyAddr.compile(trustProxy.split(',').map((entry) => entry.trim()))
  return (address) => isNamed(address, 0)
}
