import type { FastifyPluginAsyncZod } from '@fastify/type-provider-zod'
import type { Sql } from '../../../../core/database/orm.ts'
import { noObject } from '../../../../core/http/errors.ts'
import { operation } from '../../../../core/http/openapi/operation.ts'
import { messageResponse, strictBody } from '../../../../core/http/schemas.ts'
import { clearFaults as clear } from '../statements/faults.ts'

const schema = operation({
  operationId: 'clearFaults',
  client: { call: 'sandbox.clearFaults' },
  tags: ['Sandbox'],
  summary: 'Clear the faults',
  description:
    'Ends all faults that were injected with this key, at once. Calls that hang go on hanging. No fault happens to this call.',
  body: strictBody({}).describe('Empty.'),
  bodyExamples: { nothing: {} },
  response: messageResponse,
  responseDescription: 'No fault happens any more.',
  responseExamples: { cleared: { success: true, message: '2 faults are cleared.' } },
  errors: [noObject()],
})

/** POST /sandbox/clear-faults: the end of a key's faults. */
export const clearFaults: FastifyPluginAsyncZod<{ sql: Sql }> = async (app, { sql }) => {
  app.post('/sandbox/clear-faults', {
    schema,
    handler: async ({ keyId }) => {
      const count = await clear(sql, keyId)
      return { success: true as const, message: `${count} fault${count === 1 ? ' is' : 's are'} cleared.` }
    },
  })
}
