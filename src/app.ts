import { serializerCompiler, validatorCompiler, type ZodTypeProvider } from '@fastify/type-provider-zod'
import fastify, { type FastifyInstance, LogController } from 'fastify'
import type { Logger } from 'pino'
import { v7 as uuidv7 } from 'uuid'
import { createLead } from './api/create-lead.ts'
import { getEvents } from './api/get-events.ts'
import { getLead } from './api/get-lead.ts'
import { ping } from './api/ping.ts'
import { authentication } from './api/plugins/authentication.ts'
import { failures } from './api/plugins/failures.ts'
import { answerClientError } from './api/client-errors.ts'
import { requestLog } from './api/plugins/request-log.ts'
import { updatePartnerInfo } from './api/update-partner-info.ts'
import type { Environment } from './config.ts'
import type { Sql } from './db/orm.ts'
import type { ReferralState } from './domain/referral.ts'
import type { WebhookFacts } from './domain/webhook-facts.ts'
import { webhookBody } from './webhooks/body.ts'

export interface AppDependencies {
  environment: Environment
  sql: Sql
  log: Logger
  startReferral: (state: ReferralState) => void
  tls?: { cert: Buffer; key: Buffer }
  trustProxy?: string
}

const BODY_LIMIT = 64 * 1024
/** A whole request must have arrived in this time; Fastify turns Node's own limit off. */
const REQUEST_TIMEOUT_MS = 30_000

/** The API: the one list of its plugins and routes. It listens to nothing yet. */
export async function buildApp(dependencies: AppDependencies): Promise<FastifyInstance> {
  const { environment, sql, log, startReferral, tls, trustProxy } = dependencies
  const app = fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'request_id' }),
    genReqId: () => uuidv7(),
    bodyLimit: BODY_LIMIT,
    requestTimeout: REQUEST_TIMEOUT_MS,
    clientErrorHandler: answerClientError,
    return503OnClosing: false,
    ...(trustProxy !== undefined && { trustProxy }),
    ...(tls && { https: { ...tls, minVersion: 'TLSv1.2' as const } }),
  }).withTypeProvider<ZodTypeProvider>()
  app.setValidatorCompiler(validatorCompiler)
  app.setSerializerCompiler(serializerCompiler)
  app.removeContentTypeParser('text/plain')
  await app.register(requestLog)
  await app.register(failures)
  await app.register(authentication, { sql, environment })
  await app.register(ping, { prefix: '/v1', environment })
  await app.register(
    async (leads) => {
      leads.addHook('onRequest', (request) => leads.authenticate(request))
      const body = (facts: WebhookFacts) => webhookBody({ ...facts, environment })
      await leads.register(createLead, { sql, webhookBody: body, startReferral })
      await leads.register(getLead, { sql })
      await leads.register(getEvents, { sql })
      await leads.register(updatePartnerInfo, { sql })
    },
    { prefix: '/v1' },
  )
  return app as unknown as FastifyInstance
}
