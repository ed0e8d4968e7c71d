import type { FastifyPluginAsyncZod } from '@fastify/type-provider-zod'
import { z } from 'zod'
import { beginCertification, forgetCertification } from '../statements/certifications.ts'
import { actOnOwnEndpoint, SelfServiceRefusal } from '../statements/self-service.ts'
import type { SelfServiceRouteDependencies } from './dependencies.ts'
import { endpointView, exampleView, viewOf } from './endpoint-view.ts'
import { ApiError, invalidRequest, unavailable } from '../../../core/http/errors.ts'
import { flag } from '../../../core/http/fields.ts'
import { operation } from '../../../core/http/openapi/operation.ts'
import { strictBody } from '../../../core/http/schemas.ts'
import { actorOf, orRefusal, selfServiceOff } from './self-service.ts'
import { success } from '../../../core/http/response-fields.ts'

const sandboxOnly = () =>
  invalidRequest({ field: 'accept_failures', problem: 'is possible in a sandbox only' })

const schema = operation({
  operationId: 'certifyEndpoint',
  tags: ['Endpoint'],
  summary: 'Certify the new URL of your endpoint',
  description:
    'Starts the certification of the URL that set-endpoint stored. We send six requests to it: your receiver must accept a signed webhook, the same one again, and one of an unknown type, and refuse a forged signature, an old timestamp and a changed body. get-endpoint shows the result of each, and what to change. When all pass, the URL and its secret take effect together, and held webhooks are sent in order: at once, and we email your contact. Calling it again while a certification runs changes nothing.',
  body: strictBody({
    accept_failures: flag
      .default(false)
      .describe('In a sandbox: the URL takes effect even if checks fail; `false` by default.'),
  }),
  bodyExamples: { strict: {}, sandbox: { accept_failures: true } },
  response: z.object({ success, data: endpointView }),
  responseDescription: 'The certification runs. get-endpoint shows how it goes.',
  responseExamples: {
    running: {
      success: true,
      data: {
        ...exampleView,
        candidate: {
          url: 'https://hooks.lender.example.com/v2',
          requested_at: '2026-03-09 10:00:00',
        },
        certification: {
          url: 'https://hooks.lender.example.com/v2',
          state: 'running',
          requested_at: '2026-03-09 10:00:30',
          finished_at: null,
          checks: [],
        },
      },
    },
  },
  errors: [sandboxOnly(), selfServiceOff(), new ApiError('NO_CANDIDATE')],
})

type Options = Pick<SelfServiceRouteDependencies, 'sql' | 'environment' | 'endpointRequests'>

/** POST /certify-endpoint (extension): checks that the new URL verifies what it takes, and then switches to it. */
export const certifyEndpoint: FastifyPluginAsyncZod<Options> = async (app, options) => {
  const { sql, environment, endpointRequests } = options
  app.post('/certify-endpoint', {
    schema,
    handler: async (request) => {
      const { accept_failures: acceptFailures } = request.body
      if (acceptFailures && environment === 'production') throw sandboxOnly()
      const { asked } = await orRefusal(
        actOnOwnEndpoint(
          sql,
          'certify',
          actorOf(request, environment),
          async (trx, endpoint, requestedBy) => {
            const begun = await beginCertification(trx, endpoint)
            if (begun === undefined) throw new SelfServiceRefusal('no_candidate')
            const { candidate, requestedAt } = begun.certification
            const { partnerId } = request
            return {
              asked: { partnerId, candidate, requestedAt, acceptFailures, requestedBy },
              audit: begun.isNew ? { candidate, accept_failures: acceptFailures } : null,
            }
          },
        ),
      )
      await endpointRequests.certify(asked).catch(async (err: unknown) => {
        request.log.warn({ err }, 'the certification was not started')
        await forgetCertification(sql, asked)
        throw unavailable()
      })
      return { success: true as const, data: await viewOf(sql, request.partnerId) }
    },
  })
}
