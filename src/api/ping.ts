import type { FastifyPluginAsyncZod } from '@fastify/type-provider-zod'
import type { Environment } from '../domain/environment.ts'
import { formatTimestamp } from '../domain/timestamps.ts'
import { pingAnswer } from './schemas.ts'

/** GET /ping: whether the service is online; a key, if one is sent, is checked. */
export const ping: FastifyPluginAsyncZod<{ environment: Environment }> = async (app, { environment }) => {
  app.get('/ping', {
    schema: { response: { 200: pingAnswer } },
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
