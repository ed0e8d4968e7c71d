import type { FastifyPluginAsyncZod } from '@fastify/type-provider-zod'
import { z } from 'zod'
import { endpointLimits } from '../../../../core/endpoints/decisions/endpoint-change.ts'
import { ApiError, invalidRequest } from '../../../../core/http/errors.ts'
import { oneOf } from '../../../../core/http/fields.ts'
import { operation } from '../../../../core/http/openapi/operation.ts'
import { strictBody } from '../../../../core/http/schemas.ts'
import { rehearsalChecks } from '../../../self-service/decisions/rehearsal.ts'
import type { SelfServiceRouteDependencies } from '../../../self-service/routes/dependencies.ts'
import { actorOf, orRefusal, tooMany } from '../../../self-service/routes/self-service.ts'
import { latestRehearsal, requestRehearsal } from '../../../self-service/statements/rehearsals.ts'
import { actOnOwnEndpoint, requireUrl } from '../../../self-service/statements/self-service.ts'
import { type InSandbox, sandboxOf } from '../../routes/dependencies.ts'
import { rehearsalExample, rehearsalResponse, rehearsalView } from './rehearsal-view.ts'

const schema = operation({
  operationId: 'rehearseEndpoint',
  client: { call: 'sandbox.rehearse', result: 'rehearsal', prints: ['state'] },
  tags: ['Sandbox'],
  summary: 'Rehearse bad days with your endpoint',
  description: `Sends your endpoint the webhooks of made-up leads, as they come on bad days: ${rehearsalChecks.length} checks, or those that you name, each about a lead of its own. A good receiver accepts everything. get-rehearsal shows what came of each check, and what to change. It changes nothing: the leads are in no list, and your webhooks go on. It takes about ten seconds, and also goes to a paused endpoint. Calling it again while a rehearsal runs changes nothing, and returns that one.`,
  body: strictBody({
    checks: z
      .array(
        z
          .enum(rehearsalChecks, { error: oneOf(rehearsalChecks) })
          .meta({ describedAs: 'RehearsalCheckName' }),
        'must be a list',
      )
      // not .min and .max, which also judge the length of a text
      .refine(({ length }) => length > 0, 'must not be empty')
      .refine(({ length }) => length <= rehearsalChecks.length, 'is too long')
      .meta({ minItems: 1, maxItems: rehearsalChecks.length })
      .optional()
      .describe('Only these; by default all.'),
  }).describe('All fields are optional.'),
  bodyExamples: { all: {}, some: { checks: ['repeats', 'timeout'] } },
  response: rehearsalResponse,
  responseDescription: 'The rehearsal runs. get-rehearsal shows how it goes.',
  responseExamples: {
    running: {
      success: true,
      data: { ...rehearsalExample, state: 'running', verdict: null, finished_at: null, checks: [] },
    },
  },
  errors: [
    invalidRequest({ field: 'checks[0]', problem: oneOf(rehearsalChecks)({ input: 'late_answer' }) }),
    new ApiError('NO_ENDPOINT'),
    tooMany('rehearsals', endpointLimits.rehearsals.everyMinutes * 60),
  ],
})

type Options = Pick<SelfServiceRouteDependencies, 'sql' | 'environment' | 'startRequest'> & InSandbox

/** POST /sandbox/rehearse-endpoint: whether a partner's receiver copes with bad days. */
export const rehearseEndpoint: FastifyPluginAsyncZod<Options> = async (app, options) => {
  const { sql, environment, startRequest } = options
  if (sandboxOf(options) === undefined) return
  app.post('/sandbox/rehearse-endpoint', {
    schema,
    handler: async (request, reply) => {
      const checks = rehearsalChecks.filter((check) => request.body.checks?.includes(check) ?? true)
      const { id } = await orRefusal(
        reply,
        actOnOwnEndpoint(
          sql,
          'rehearse',
          actorOf(request, environment),
          async (trx, endpoint, requestedBy) => {
            requireUrl(endpoint)
            const asked = await requestRehearsal(trx, endpoint, { checks, requestedBy })
            return { id: asked.id, audit: asked.isNew ? { certification_id: asked.id, checks } : null }
          },
        ),
      )
      startRequest((requests) => requests.rehearse(id))
      const row = await latestRehearsal(sql, request.partnerId)
      // it began again meanwhile
      if (row === undefined) throw new ApiError('NO_ENDPOINT')
      return { success: true as const, data: rehearsalView(row) }
    },
  })
}
