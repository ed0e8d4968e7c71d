import helmet from '@fastify/helmet'
import plugin from 'fastify-plugin'

/** Answers hold people's data: no cache keeps them, and no page may be made of them. */
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
