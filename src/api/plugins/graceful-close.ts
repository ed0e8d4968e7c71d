import plugin from 'fastify-plugin'

/**
 * Once the server closes, each answer in flight ends its connection too. Kept alive, it would hold the
 * process up until the client tires of it.
 */
export const gracefulClose = plugin(async (app) => {
  let closing = false
  app.addHook('preClose', async () => {
    closing = true
  })
  app.addHook('onSend', async (_request, reply) => {
    if (closing) reply.header('connection', 'close')
  })
})
