import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import plugin from 'fastify-plugin'

/**
 * Once the server closes, answers the requests in flight and then ends every connection. Node alone would wait
 * for each peer that has sent half a request, or nothing yet, or that tires of its connection only later.
 */
export const gracefulClose = plugin<{ stopMs: number }>(async (app, { stopMs }) => {
  const sockets = new Set<Socket>()
  let inFlight = 0
  let closing = false

  function endAll(): void {
    for (const socket of sockets) socket.destroy()
  }
  function endWhenAnswered(): void {
    if (closing && inFlight === 0) endAll()
  }
  // with TLS these are the sockets beneath it, a handshake's too
  app.server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    endWhenAnswered()
  })
  app.server.on('request', (_request: IncomingMessage, response: ServerResponse) => {
    inFlight += 1
    response.once('close', () => {
      inFlight -= 1
      endWhenAnswered()
    })
  })
  app.addHook('preClose', async () => {
    closing = true
    endWhenAnswered()
    setTimeout(endAll, stopMs).unref()
  })
  app.addHook('onSend', async (_request, reply) => {
    if (closing) reply.header('connection', 'close')
  })
})
