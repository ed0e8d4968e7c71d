import type { FastifyPluginAsyncZod } from '@fastify/type-provider-zod'
import { z } from 'zod'
import type { Sql } from '../../../../core/database/orm.ts'
import { noObject } from '../../../../core/http/errors.ts'
import { operation } from '../../../../core/http/openapi/operation.ts'
import { success } from '../../../../core/http/response-fields.ts'
import { strictBody } from '../../../../core/http/schemas.ts'
import { readFaults } from '../statements/faults.ts'
import { fault, faultExample, faultView } from './fault.ts'

const schema = operation({
  operationId: 'getFaults',
  client: { call: 'sandbox.faults', result: 'fault', prints: ['fault', 'left'], items: 'together' },
  tags: ['Sandbox'],
  summary: 'Read the faults',
  description:
    'Returns the faults that were injected with this key, newest first: what is left of each, when it ends, and what it happened to so far.',
  body: strictBody({}).describe('Empty.'),
  bodyExamples: { nothing: {} },
  response: z.object({ success, data: z.array(fault) }),
  responseDescription: 'The faults of this key, also those that have ended.',
  responseExamples: { one: { success: true, data: [faultExample] } },
  errors: [noObject()],
})

/** POST /sandbox/get-faults: what is left of a key's faults. */
export const getFaults: FastifyPluginAsyncZod<{ sql: Sql }> = async (app, { sql }) => {
  app.post('/sandbox/get-faults', {
    schema,
    handler: async ({ keyId }) => ({
      success: true as const,
      data: (await readFaults(sql, keyId)).map(faultView),
    }),
  })
}
