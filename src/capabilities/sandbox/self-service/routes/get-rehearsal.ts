import type { FastifyPluginAsyncZod } from '@fastify/type-provider-zod'
import { noObject } from '../../../../core/http/errors.ts'
import { operation } from '../../../../core/http/openapi/operation.ts'
import { strictBody } from '../../../../core/http/schemas.ts'
import type { SelfServiceRouteDependencies } from '../../../self-service/routes/dependencies.ts'
import { latestRehearsal } from '../../../self-service/statements/rehearsals.ts'
import { type InSandbox, sandboxOf } from '../../routes/dependencies.ts'
import { latestRehearsalResponse, rehearsalExample, rehearsalView } from './rehearsal-view.ts'

const schema = operation({
  operationId: 'getRehearsal',
  client: { call: 'sandbox.rehearsal', result: 'rehearsal' },
  tags: ['Sandbox'],
  summary: 'Read your latest rehearsal',
  description:
    'Returns the latest rehearsal of your endpoint: for each check what we sent, what a good receiver does, what came and whether that was it, and a verdict over all. It is kept until the next one.',
  body: strictBody({}).describe('Empty.'),
  bodyExamples: { nothing: {} },
  response: latestRehearsalResponse,
  responseDescription: 'The rehearsal, with the checks so far.',
  responseExamples: {
    failed: { success: true, data: rehearsalExample },
    'none yet': { success: true, data: null },
  },
  errors: [noObject()],
})

type Options = Pick<SelfServiceRouteDependencies, 'sql' | 'environment'> & InSandbox

/** POST /sandbox/get-rehearsal: what came of a rehearsal. */
export const getRehearsal: FastifyPluginAsyncZod<Options> = async (app, options) => {
  if (sandboxOf(options) === undefined) return
  app.post('/sandbox/get-rehearsal', {
    schema,
    handler: async ({ partnerId }) => {
      const row = await latestRehearsal(options.sql, partnerId)
      return { success: true as const, data: row === undefined ? null : rehearsalView(row) }
    },
  })
}
