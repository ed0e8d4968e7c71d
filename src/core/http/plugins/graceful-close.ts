import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import plugin from 'fastify-plugin'

declare module 'fastify' {
  interface FastifyInstance {
    /** Goes on taking requests, and has each connection closed after its next answer, before `close` is called. */
    drain(): void
  }
}

/**
 * Graceful shutdown: responds to the requests in flight, then closes every connection. Node alone would wait for
 * peers that have sent half a request or nothing, and for keep-alive connections. A connection that was closed after an
 * answer meanwhile is none on which a proxy sends a request just when it is cut.
 *
 * @param options.stopMs when connections are closed even if requests are in flight.
 */
export const gracefulClose = plugin<{ stopMs: number }>(async (app, { stopMs }) => {
  const sockets = new Set<Socket>()
  let inFlight = 0
  let draining = false
  let closing = false

  function endAll(): void {
    for (const socket of sockets) socket.destroy()
  }
  function endWhenAnswered(): void {
    if (closing && inFlight === 0) endAll()
  }
  // with TLS these are the TCP sockets, including those still in a handshake
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
  app.decorate('drain', () => void (draining = true))
  app.addHook('preClose', async () => {
    draining = true
    closing = true
    endWhenAnswered()
    setTimeout(endAll, stopMs).unref()
  })
  app.addHook('onSend', async (_request, reply) => {
    if (draining) reply.header('connection', 'close')
  })
})
