import type { FastifyPluginAsyncZod } from '@fastify/type-provider-zod'
import { type Environment, formatTimestamp } from '../values.ts'
import { timestamp } from './fields.ts'
import { operation } from './operation.ts'
import { environment as environmentField, messageResponse } from './schemas.ts'

const schema = operation({
  operationId: 'ping',
  tags: ['Service'],
  summary: 'Check that the service is online',
  description: 'Needs no key. If you send one, it is checked, so this call also tests a key.',
  security: [{}, { serviceKey: [] }],
  response: messageResponse.extend({ environment: environmentField, time: timestamp }),
  responseDescription: 'The service is online.',
  responseExamples: {
    pong: { success: true, message: 'pong', environment: 'sandbox', time: '2026-03-02 15:04:05' },
  },
})

/** GET /ping: whether the service is online. A key is optional, and checked if there is one. */
export const ping: FastifyPluginAsyncZod<{ environment: Environment }> = async (app, { environment }) => {
  app.get('/ping', {
    schema,
    onRequest: async (request) => {
      const { authorization } = request.headers
      await (authorization === undefined ? app.limitAddress(request) : app.authenticate(request))
    },
    handler: async () => ({
      success: true as const,
      message: 'pong',
      environment,
      time: formatTimestamp(new Date()),
    }),
  })
}
