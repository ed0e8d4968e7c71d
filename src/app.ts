import proxyAddr from '@fastify/proxy-addr'
import { validatorCompiler, type ZodTypeProvider } from '@fastify/type-provider-zod'
import fastify, { type FastifyInstance, LogController } from 'fastify'
import type { Logger } from 'pino'
import { v7 as uuidv7 } from 'uuid'
import { answerClientError, answerConnect, requireHost } from './api/client-errors.ts'
import { type ConnectionLimits, connectionLimits, serverOptions } from './api/connections.ts'
import { createLead } from './api/create-lead.ts'
import { getDeliveries } from './api/get-deliveries.ts'
import { getEndpoint } from './api/get-endpoint.ts'
import { getEvents } from './api/get-events.ts'
import { getLead } from './api/get-lead.ts'
import { docsPage } from './api/openapi/docs-page.ts'
import { listEvents } from './api/list-events.ts'
import { openapi } from './api/openapi/document.ts'
import { readableUrl } from './api/paths.ts'
import { ping } from './api/ping.ts'
import { authentication } from './api/plugins/authentication.ts'
import { currentSchema } from './api/plugins/current-schema.ts'
import { failures } from './api/plugins/failures.ts'
import { httpsRequired } from './api/plugins/https-required.ts'
import { jsonBody } from './api/plugins/json-body.ts'
import { rateLimits } from './api/plugins/rate-limits.ts'
import { gracefulClose } from './api/plugins/graceful-close.ts'
import { requestLog } from './api/plugins/request-log.ts'
import { requestMetrics } from './api/plugins/request-metrics.ts'
import { securityHeaders } from './api/plugins/security-headers.ts'
import { resendWebhook } from './api/resend-webhook.ts'
import type { TlsFiles } from './api/tls.ts'
import { updatePartnerInfo } from './api/update-partner-info.ts'
import type { Sql } from './db/orm.ts'
import { IDLE_IN_TRANSACTION_MS, type Patience } from './db/session-options.ts'
import type { Environment } from './domain/environment.ts'
import type { ReferralState } from './domain/referral.ts'
import type { WebhookFacts } from './domain/webhook-facts.ts'
import type { ObserveRequest } from './metrics/api.ts'
import type { ResendWebhook } from './temporal/resend.ts'
import { webhookBody } from './webhooks/body.ts'

export interface AppDependencies {
  environment: Environment
  sql: Sql
  /** Whether the database's schema is as new as the routes need. */
  isSchemaCurrent: () => Promise<boolean>
  /** Resolves once the database is known to be this deployment's: nothing is served from it before. */
  deployment: () => Promise<unknown>
  log: Logger
  startReferral: (state: ReferralState) => void
  resendWebhook: ResendWebhook
  observeRequest: ObserveRequest
  /** Requests a minute of each partner, and of each address without a key; 0 is no limit. */
  rateLimit: number
  /** Where they differ from the usual ones. */
  limits?: Partial<ConnectionLimits>
  tls?: TlsFiles
  /** Addresses and networks of TLS proxies, comma-separated. */
  trustProxy?: string
}

/** A partner hears SERVICE_UNAVAILABLE within two seconds rather than waiting with us. */
export const apiPatience: Patience = {
  connectMs: 1000,
  lockMs: 1000,
  statementMs: 1200,
  silenceMs: 1500,
  idleInTransactionMs: IDLE_IN_TRANSACTION_MS,
}

/** The API: the one list of its plugins and routes. It listens to nothing yet. */
export async function buildApp(dependencies: AppDependencies): Promise<FastifyInstance> {
  const { environment, sql, deployment, startReferral, resendWebhook: resend, rateLimit } = dependencies
  const limits = { ...connectionLimits, ...dependencies.limits }
  const isProxy = proxiesOf(dependencies.trustProxy)
  const app = createServer(dependencies, limits, isProxy)
  await app.register(gracefulClose, { stopMs: limits.stopMs })
  await app.register(requestLog)
  await app.register(requestMetrics, { observeRequest: dependencies.observeRequest })
  await app.register(securityHeaders)
  await app.register(httpsRequired, { isProxy })
  await app.register(rateLimits, { perMinute: rateLimit })
  await app.register(failures)
  await app.register(currentSchema, { isSchemaCurrent: dependencies.isSchemaCurrent })
  await app.register(jsonBody)
  await app.register(authentication, { sql, environment, deployment })
  await app.register(openapi)
  await app.register(docsPage)
  await app.register(ping, { prefix: '/v1', environment })
  await app.register(
    async (leads) => {
      leads.addHook('onRequest', (request) => leads.authenticate(request))
      const body = (facts: WebhookFacts) => webhookBody({ ...facts, environment })
      await leads.register(createLead, { sql, webhookBody: body, startReferral })
      await leads.register(getLead, { sql })
      await leads.register(getEvents, { sql })
      await leads.register(updatePartnerInfo, { sql })
      await leads.register(getDeliveries, { sql })
      await leads.register(resendWebhook, { sql, resendWebhook: resend })
      await leads.register(getEndpoint, { sql })
      await leads.register(listEvents, { sql })
    },
    { prefix: '/v1' },
  )
  return app
}

/** Whether an address is one of the named proxies. */
function proxiesOf(trustProxy: string | undefined): (address: string) => boolean {
  if (trustProxy === undefined) return () => false
  const isNamed = proxyAddr.compile(trustProxy.split(',').map((entry) => entry.trim()))
  return (address) => isNamed(address, 0)
}

const BODY_LIMIT = 64 * 1024

function createServer(
  { log, tls }: AppDependencies,
  limits: ConnectionLimits,
  isProxy: (address: string) => boolean,
): FastifyInstance {
  const app = fastify({
    ...serverOptions(limits, tls),
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'request_id' }),
    genReqId: () => uuidv7(),
    bodyLimit: BODY_LIMIT,
    clientErrorHandler: answerClientError,
    rewriteUrl: readableUrl,
    return503OnClosing: false,
    trustProxy: isProxy,
  }).withTypeProvider<ZodTypeProvider>()
  app.setValidatorCompiler(validatorCompiler)
  // answers are typed by their schemas, and tests hold them against these: checking each again costs much
  app.setSerializerCompiler(() => JSON.stringify)
  app.addHook('onRequest', requireHost)
  const { server } = app
  if (limits.maxConnections !== undefined) server.maxConnections = limits.maxConnections
  server.on('connect', answerConnect)
  // an Expect that we do not know is ignored, as HTTP allows; Node would answer it with an empty 417
  server.on('checkExpectation', (request, response) => server.emit('request', request, response))
  return app as unknown as FastifyInstance
}
