import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A TCP proxy that can go away or fall silent, like a network in front of a server. */
export async function switchableProxy(target: URL) {
  const open = new Set<Socket>()
  const outers = new Set<Socket>()
  let mode: 'open' | 'silent' | 'away' = 'open'
  const server = createServer((inner) => {
    keep(inner)
    if (mode === 'silent') return
    // refused after the handshake of TCP: nobody else can take the port meanwhile
    if (mode === 'away') {
      inner.resetAndDestroy()
      return
    }
    const outer = connect(Number(target.port), target.hostname)
    keep(outer)
    outers.add(outer.on('close', () => outers.delete(outer)))
    inner.on('close', () => outer.destroy()).pipe(outer)
    outer.on('close', () => inner.destroy()).pipe(inner)
  })
  function keep(socket: Socket) {
    open.add(socket)
    socket.on('error', () => {}).on('close', () => open.delete(socket))
  }
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = new URL(target)
  url.port = String((server.address() as AddressInfo).port)
  return {
    url: url.href,
    /** Closes all connections and refuses new ones. */
    goAway() {
      mode = 'away'
      for (const socket of open) socket.destroy()
    },
    /** Drops everything silently. Open connections never get a response. */
    fallSilent() {
      mode = 'silent'
      for (const socket of open) socket.unpipe().pause()
    },
    /** Open connections still deliver what is sent, but never a response. */
    swallowAnswers() {
      for (const outer of outers) outer.unpipe().resume()
    },
    comeBack() {
      mode = 'open'
    },
    async close() {
      for (const socket of open) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
