import { text } from 'node:stream/consumers'
import { createServer, type RequestListener } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { createServer as createTcpServer, type Server, type Socket } from 'node:net'
import { atEnd } from '../support/at-end.ts'
import { listen } from '../support/listen.ts'

export interface Received {
  headers: Record<string, string>
  body: string
}

/** Listens on a free port of loopback until the file ends; `connections` counts all that were ever made to it. */
async function serve(server: Server) {
  const open = new Set<Socket>()
  const counts = { connections: 0 }
  server.on('connection', (socket) => {
    counts.connections += 1
    open.add(socket)
    socket.on('error', () => {}).on('close', () => open.delete(socket))
  })
  const port = await listen(server)
  const close = async () => {
    for (const socket of open) socket.destroy()
    await new Promise((resolve) => server.close(resolve))
  }
  atEnd(close)
  return { port, counts, close }
}

/** An HTTP receiver that keeps each request and then answers it with `answer`. */
export async function startReceiver(answer: RequestListener, tls?: { cert: string; key: string }) {
  const received: Received[] = []
  const listener: RequestListener = (request, response) => {
    void text(request).then((body) => {
      received.push({ headers: request.headers as Record<string, string>, body })
      answer(request, response)
    })
  }
  const { port, counts, close } = await serve(tls ? createTlsServer(tls, listener) : createServer(listener))
  return { port, counts, close, received, url: `${tls ? 'https' : 'http'}://localhost:${port}/hook` }
}

/** A TCP receiver: `answer` gets each connection as it is. */
export async function startRawReceiver(answer: (socket: Socket, data: Buffer) => void) {
  const { port, counts, close } = await serve(
    createTcpServer((socket) => void socket.once('data', (data) => answer(socket, data))),
  )
  return { port, counts, close, url: `http://localhost:${port}/hook` }
}
