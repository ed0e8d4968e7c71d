import plugin from 'fastify-plugin'

/** One line for each request, and its id in the answer. No header, query or body: they hold keys and people. */
export const requestLog = plugin(async (app) => {
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id)
  })
  app.addHook('onResponse', async (request, reply) => {
    request.log.info(
      {
        ...(request.partnerId > 0 && { partner_id: request.partnerId }),
        method: request.method,
        route: request.routeOptions.url ?? 'none',
        status: reply.statusCode,
        duration_ms: Math.round(reply.elapsedTime * 10) / 10,
      },
      'request',
    )
  })
})
