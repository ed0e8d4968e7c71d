import type { FastifyPluginAsyncZod } from '@fastify/type-provider-zod'
import type { FastifyInstance, FastifyPluginAsync } from 'fastify'
import type { Logger } from 'pino'
import { certifyEndpoint } from './endpoints/certify-endpoint.ts'
import { consolePage } from './console/page.ts'
import { closeLead, type CloseDependencies } from './leads/close-lead.ts'
import { createLead, type CreateDependencies } from './leads/create-lead.ts'
import { eraseLead } from './privacy/erase-lead.ts'
import { exportLead } from './privacy/export-lead.ts'
import { getDeliveries } from './deliveries/get-deliveries.ts'
import { getEndpoint } from './endpoints/get-endpoint.ts'
import { getEvents } from './leads/get-events.ts'
import { getLead } from './leads/get-lead.ts'
import {
  closeGracefully,
  type ConnectionLimits,
  connectionLimits,
  createHttpServer,
  requireHost,
  securityHeaders,
  type TlsFiles,
} from './http/http-server.ts'
import { listEvents } from './leads/list-events.ts'
import { listLeads } from './leads/list-leads.ts'
import { describeApi } from './http/openapi.ts'
import type { EndpointDependencies } from './endpoints/own-endpoint.ts'
import { pauseEndpoint } from './endpoints/pause-endpoint.ts'
import { ping } from './http/ping.ts'
import { authenticateKeys } from './partners/authentication.ts'
import { answerFailures } from './http/failures.ts'
import { proxiesOf, requireHttps } from './http/https-required.ts'
import { acceptJson } from './http/json-body.ts'
import { limitRates } from './partners/rate-limits.ts'
import { logRequests } from './http/request-log.ts'
import type { RouteDependencies } from './http/dependencies.ts'
import { type ResendDependencies, resendWebhook } from './deliveries/resend-webhook.ts'
import { rotateEndpointSecret } from './endpoints/rotate-endpoint-secret.ts'
import { type SandboxOptions, sandboxRoutes, sinks } from './sandbox/routes.ts'
import { setEndpoint } from './endpoints/set-endpoint.ts'
import { testEndpoint } from './endpoints/test-endpoint.ts'
import { updatePartnerInfo } from './leads/update-partner-info.ts'
import { webhooks } from './leads/webhook-reference.ts'
import { webhookBody } from './webhooks/body.ts'
import type { ObserveRequest } from './observe/process-metrics.ts'

/** The dependencies of the API: those of its routes and those of its server. */
export interface AppDependencies
  extends
    Omit<CreateDependencies, 'webhookBody'>,
    CloseDependencies,
    ResendDependencies,
    Omit<EndpointDependencies, 'webhookBody'>,
    Pick<SandboxOptions, 'sandbox'> {
  /** Resolves once the database is migrated, can be decrypted and belongs to this deployment. Until then, nothing is served from it. */
  requireRecord: () => Promise<unknown>
  log: Logger
  observeRequest: ObserveRequest
  /** Requests per minute for each partner, and for each address without a key; 0 means no limit. */
  rateLimit: number
  /** Overrides `connectionLimits`. */
  limits?: Partial<ConnectionLimits>
  tls?: TlsFiles
  /** Addresses and networks of TLS proxies, comma-separated. */
  trustProxy?: string
}

type Options = AppDependencies & RouteDependencies

/** The routes for partners with a key, in the order in which the reference shows them. */
const routesWithKey: (FastifyPluginAsyncZod<Options> | FastifyPluginAsync<Options>)[] = [
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
]

/** Builds the API from its plugins. It does not listen yet. */
export async function buildApp(dependencies: AppDependencies): Promise<FastifyInstance> {
  const { environment, sql, requireRecord, log, tls, rateLimit: perMinute } = dependencies
  const limits = { ...connectionLimits, ...dependencies.limits }
  const isProxy = proxiesOf(dependencies.trustProxy)
  const app = createHttpServer({ log, limits, tls, isProxy })
  // in the order in which a request meets them
  closeGracefully(app, limits.stopMs)
  logRequests(app, dependencies.observeRequest)
  app.addHook('onRequest', async (_request, reply) => void reply.headers(securityHeaders))
  app.addHook('onRequest', requireHost)
  requireHttps(app, dependencies.trustProxy === undefined ? undefined : isProxy)
  await limitRates(app, perMinute)
  answerFailures(app)
  acceptJson(app)
  authenticateKeys(app, { sql, environment, requireRecord })
  await describeApi(app, environment, webhooks)
  if (environment === 'sandbox') await app.register(consolePage)
  const options = { ...dependencies, webhookBody: webhookBody(environment) }
  await app.register(
    async (v1) => {
      await v1.register(ping, options)
      await v1.register(sinks, options)
      await v1.register(async (keyed) => {
        keyed.addHook('onRequest', (request) => keyed.authenticate(request))
        keyed.addHook('preHandler', (request) => keyed.authenticateAgain(request))
        for (const route of routesWithKey) await keyed.register(route, options)
      })
    },
    { prefix: '/v1' },
  )
  return app
}
