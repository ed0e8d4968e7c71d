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

/** For what is on its way on a connection that was accepted last, or that was kept: the next part of a request. */
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
 * for the next part of its handshake or request, however long a busy process takes for all of them.
 *
 * @param options.stopMs when connections are closed even if requests are in flight.
 */
export const gracefulClose = plugin<{ stopMs: number }>(async (app, { stopMs }) => {
  /** Of each connection how many bytes had come when it was last looked at. */
  const sockets = new Map<Socket, number>()
  let accepted = 0
  let inFlight = 0
  let draining = false

  function endAll(): void {
    for (const socket of sockets.keys()) socket.destroy()
  }
  /** Those from which nothing has come since the last time. */
  function endSilent(): void {
    if (inFlight > 0) return
    for (const [socket, before] of sockets) {
      if (socket.bytesRead === before) socket.destroy()
      else sockets.set(socket, socket.bytesRead)
    }
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
    sockets.set(socket, 0)
    socket.once('close', () => sockets.delete(socket))
  })
  app.server.on('request', (_request: IncomingMessage, response: ServerResponse) => {
    inFlight += 1
    response.once('close', () => (inFlight -= 1))
  })
  app.decorate('drain', () => void (draining = true))
  app.addHook('preClose', async () => {
    draining = true
    await closePortWhenNobodyWaits()
    for (const socket of sockets.keys()) sockets.set(socket, socket.bytesRead)
    // timers come first in a turn of the event loop: what waits is read before
    const looking = setInterval(() => setImmediate(endSilent), GRACE_MS).unref()
    app.server.once('close', () => clearInterval(looking))
    setTimeout(endAll, stopMs).unref()
  })
  app.addHook('onSend', async (_request, reply) => {
    if (draining) reply.header('connection', 'close')
  })
})
