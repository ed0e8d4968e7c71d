import helmet from '@fastify/helmet'
import plugin from 'fastify-plugin'

/** Responses hold personal data: they must not be cached, framed or rendered as a page. */
export const securityHeaders = plugin(async (app) => {
  await app.register(helmet, {
    contentSecurityPolicy: {
      useDefaults: false,
      directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
    },
  })
  app.addHook('onRequest', async (_request, reply) => {
    reply.header('cache-control', 'no-store')
  })
})
