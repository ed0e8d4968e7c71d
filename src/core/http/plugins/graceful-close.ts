import plugin from 'fastify-plugin'

declare module 'fastify' {
  interface FastifyInstance {
    /** Goes on taking requests, and has each connection closed after its next answer, before `close` is called. */
    drain(): void
  }
}

/**
 * Graceful shutdown: each connection ends with its next answer. `close` ends the idle ones at once.
 *
 * @param options.stopMs after which `close` ends all others, for peers that have sent half a request or nothing.
 */
export const gracefulClose = plugin<{ stopMs: number }>(async (app, { stopMs }) => {
  let draining = false
  app.decorate('drain', () => void (draining = true))
  app.addHook('preClose', async () => {
    draining = true
    setTimeout(() => app.server.closeAllConnections(), stopMs).unref()
  })
  app.addHook('onSend', async (_request, reply) => {
    if (draining) reply.header('connection', 'close')
  })
})
