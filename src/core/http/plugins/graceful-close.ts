import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import plugin from 'fastify-plugin'

declare module 'fastify' {
  interface FastifyInstance {
    /** Goes on taking requests, and has each connection closed after its next answer, before `close` is called. */
    drain(): void
  }
}

/** For the request that is on its way on a connection that was accepted last, or that was kept. */
const GRACE_MS = 500
/** In a turn of the event loop that takes longer, others may have connected. */
const SHORT_TURN_MS = 0.1
/** How long a busy process waits for a turn in which nobody connects; the longer it has waited, the longer one may be. */
const BUSY_MS = 2000
const OF_THE_WAIT = 0.01

/**
 * Graceful shutdown: answers what was sent, then closes every connection. Node alone would wait for peers that have
 * sent half a request or nothing, and for keep-alive connections. A connection that was closed after an answer meanwhile
 * is none on which a proxy sends a request just when it is cut.
 *
 * With a port, the kernel resets the connections that nobody has accepted. Their peers may have sent a request, and can't
 * know whether to send it again. So all that wait are accepted first, and each connection that is open then has a moment
 * for a request.
 *
 * @param options.stopMs when connections are closed even if requests are in flight.
 */
export const gracefulClose = plugin<{ stopMs: number }>(async (app, { stopMs }) => {
  const sockets = new Set<Socket>()
  let accepted = 0
  let inFlight = 0
  let draining = false
  let graceIsOver = false

  function endAll(): void {
    for (const socket of sockets) socket.destroy()
  }
  function endWhenAnswered(): void {
    if (graceIsOver && inFlight === 0) endAll()
  }
  /** The event loop accepts one connection in each turn: when it had nothing to do, none waits. */
  async function closePortWhenNobodyWaits(): Promise<void> {
    // the first call compiles it, which takes a moment in which others connect
    createServer().close()
    // what follows are whole turns
    await nextTurn()
    const start = performance.now()
    let now = start
    let isQuiet = false
    while (!isQuiet && now < start + BUSY_MS) {
      const [before, began] = [accepted, now]
      await nextTurn()
      now = performance.now()
      isQuiet = accepted === before && now - began < SHORT_TURN_MS + OF_THE_WAIT * (now - start)
    }
    app.server.close()
  }
  // Node calls it when the port is closed, and leaves no moment for a request
  app.server.closeIdleConnections = () => {}
  // with TLS these are the TCP sockets, including those still in a handshake
  app.server.on('connection', (socket: Socket) => {
    accepted += 1
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
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
    await closePortWhenNobodyWaits()
    setTimeout(() => {
      graceIsOver = true
      endWhenAnswered()
    }, GRACE_MS).unref()
    setTimeout(endAll, stopMs).unref()
  })
  app.addHook('onSend', async (_request, reply) => {
    if (draining) reply.header('connection', 'close')
  })
})
