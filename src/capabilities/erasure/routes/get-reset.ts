import type { FastifyPluginAsyncZod } from '@fastify/type-provider-zod'
import { z } from 'zod'
import type { RouteDependencies } from '../../../core/http/dependencies.ts'
import { noObject } from '../../../core/http/errors.ts'
import { operation } from '../../../core/http/openapi/operation.ts'
import { success } from '../../../core/http/response-fields.ts'
import { strictBody } from '../../../core/http/schemas.ts'
import { latestReset } from '../statements/resets.ts'
import { exampleReset, resetToWire, resetView } from './reset-view.ts'

const schema = operation({
  operationId: 'getReset',
  client: { call: 'sandbox.resetProgress', result: 'reset', prints: ['state', 'leads_left'] },
  tags: ['Sandbox'],
  summary: 'See how far a reset is',
  description: 'Returns how far your latest reset-sandbox is.',
  body: strictBody({}).describe('Empty.'),
  bodyExamples: { nothing: {} },
  response: z.object({ success, data: resetView }),
  responseDescription: 'Your latest reset.',
  responseExamples: {
    done: {
      success: true,
      data: { ...exampleReset, state: 'done', finished_at: '2026-03-09 10:30:02', leads_left: 0 },
    },
  },
  errors: [noObject()],
})

/** POST /sandbox/get-reset: how far a partner's latest reset is. */
export const getReset: FastifyPluginAsyncZod<Pick<RouteDependencies, 'sql'>> = async (app, { sql }) => {
  app.post('/sandbox/get-reset', {
    schema,
    handler: async ({ partnerId }) => ({
      success: true as const,
      data: resetToWire(await latestReset(sql, partnerId)),
    }),
  })
}
