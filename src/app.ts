import proxyAddr from '@fastify/proxy-addr'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import { certifyEndpoint } from './capabilities/self-service/routes/certify-endpoint.ts'
import { consolePage } from './console/page.ts'
import { closeLead } from './core/leads/routes/close-lead.ts'
import { createLead } from './core/leads/routes/create-lead.ts'
import { eraseLead, type ErasureDependencies } from './capabilities/erasure/routes/erase-lead.ts'
import { exportLead } from './capabilities/access/routes/export-lead.ts'
import { getDeliveries } from './core/deliveries/routes/get-deliveries.ts'
import { getEndpoint } from './capabilities/self-service/routes/get-endpoint.ts'
import { getEvents } from './core/leads/routes/get-events.ts'
import { getLead } from './core/leads/routes/get-lead.ts'
import { requireHost } from './core/http/client-errors.ts'
import { type ConnectionLimits, connectionLimits, createHttpServer } from './core/http/http-server.ts'
import { listEvents } from './core/leads/routes/list-events.ts'
import { listLeads } from './core/leads/routes/list-leads.ts'
import { openapi } from './core/http/openapi/document.ts'
import { pauseEndpoint } from './capabilities/self-service/routes/pause-endpoint.ts'
import { ping } from './core/http/ping.ts'
import { authentication } from './core/http/plugins/authentication.ts'
import { failures } from './core/http/plugins/failures.ts'
import { gracefulClose } from './core/http/plugins/graceful-close.ts'
import { httpsRequired } from './core/http/plugins/https-required.ts'
import { jsonBody } from './core/http/plugins/json-body.ts'
import { rateLimits } from './core/http/plugins/rate-limits.ts'
import { requestLog } from './core/http/plugins/request-log.ts'
import { securityHeaders } from './core/http/plugins/security-headers.ts'
import type { RouteDependencies } from './core/http/dependencies.ts'
import type { TlsFiles } from './core/http/tls.ts'
import { registerAll } from './core/http/register-all.ts'
import { resendWebhook } from './core/deliveries/routes/resend-webhook.ts'
import { rotateEndpointSecret } from './capabilities/self-service/routes/rotate-endpoint-secret.ts'
import type { InSandbox } from './capabilities/sandbox/routes/dependencies.ts'
import { sandboxRoutes, sinkRoutes, sinks } from './capabilities/sandbox/routes/routes.ts'
import { useSink } from './capabilities/sandbox/self-service/routes/use-sink.ts'
import type { SelfServiceDependencies } from './capabilities/self-service/routes/dependencies.ts'
import { setEndpoint } from './capabilities/self-service/routes/set-endpoint.ts'
import { testEndpoint } from './capabilities/self-service/routes/test-endpoint.ts'
import { updatePartnerInfo } from './core/leads/routes/update-partner-info.ts'
import { IDLE_IN_TRANSACTION_MS, type Patience } from './core/database/session-options.ts'
import type { WebhookFacts } from './core/deliveries/decisions/webhook-facts.ts'
import { webhookBody } from './core/deliveries/webhooks/body.ts'
import type { ObserveRequest } from './metrics/api.ts'

/** What the process gives the API beside what its routes work with. */
interface HttpDependencies {
  /** Whether the database is migrated, can be decrypted and belongs to this deployment. Until then, nothing is served from it. */
  isDatabaseReady: () => Promise<boolean>
  log: Logger
  observeRequest: ObserveRequest
  /** Requests per minute for each partner, and for each address without a key; 0 means no limit. */
  rateLimit: number
  /** Those that differ from `connectionLimits`. */
  limits?: Partial<ConnectionLimits>
  tls?: TlsFiles
  /** Addresses and networks of TLS proxies, comma-separated. */
  trustProxy?: string
}

export type AppDependencies = HttpDependencies &
  SelfServiceDependencies &
  ErasureDependencies &
  InSandbox &
  Omit<RouteDependencies, 'webhookBody'>

/** If PostgreSQL is slow or down, partners get SERVICE_UNAVAILABLE within two seconds. */
export const apiPatience: Patience = {
  connectMs: 1000,
  lockMs: 1000,
  statementMs: 1200,
  silenceMs: 1500,
  idleInTransactionMs: IDLE_IN_TRANSACTION_MS,
}

/** The routes for partners with a key, in the order in which the reference shows them. */
const routesWithKey = [
  createLead,
  getLead,
  getEvents,
  updatePartnerInfo,
  getDeliveries,
  resendWebhook,
  getEndpoint,
  setEndpoint,
  certifyEndpoint,
  rotateEndpointSecret,
  testEndpoint,
  pauseEndpoint,
  listEvents,
  listLeads,
  closeLead,
  exportLead,
  eraseLead,
  sandboxRoutes,
  useSink,
  sinkRoutes,
]

const routesWithoutKey = [
  // the first is the specification's
  ping,
  sinks,
]

/** The API, with the one list of its plugins. It does not listen yet. */
export async function buildApp(dependencies: AppDependencies): Promise<FastifyInstance> {
  const { environment, sql, isDatabaseReady, log, tls, rateLimit: perMinute } = dependencies
  const limits = { ...connectionLimits, ...dependencies.limits }
  const isProxy = proxiesOf(dependencies.trustProxy)
  const app = createHttpServer({ log, limits, tls, isProxy })
  await app.register(gracefulClose, { stopMs: limits.stopMs })
  await app.register(requestLog, { observeRequest: dependencies.observeRequest })
  await app.register(securityHeaders)
  app.addHook('onRequest', requireHost)
  await app.register(httpsRequired, { isProxy: dependencies.trustProxy === undefined ? undefined : isProxy })
  await app.register(rateLimits, { perMinute })
  await app.register(failures)
  await app.register(jsonBody)
  await app.register(authentication, {
    sql,
    environment,
    isDatabaseReady,
  })
  await app.register(openapi, { environment })
  if (environment === 'sandbox') await registerAll(app, [consolePage], {})
  const options = {
    ...dependencies,
    webhookBody: (facts: WebhookFacts) => webhookBody({ ...facts, environment }),
  }
  const withKey = async (keyed: FastifyInstance) => {
    keyed.addHook('onRequest', (request) => keyed.authenticate(request))
    keyed.addHook('preHandler', (request) => keyed.authenticateAgain(request))
    await registerAll(keyed, routesWithKey, options)
  }
  const v1 = async (api: FastifyInstance) => {
    await registerAll(api, routesWithoutKey, options)
    await registerAll(api, [withKey], {})
  }
  await registerAll(app, [v1], { prefix: '/v1' })
  return app
}

/** Tells whether an address is one of the trusted proxies. */
function proxiesOf(trustProxy: string | undefined): (address: string) => boolean {
  if (trustProxy === undefined) return () => false
  const isNamed = proxyAddr.compile(trustProxy.split(',').map((entry) => entry.trim()))
  return (address) => isNamed(address, 0)
}
