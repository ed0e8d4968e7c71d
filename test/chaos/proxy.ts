import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { atEnd } from '../support/at-end.ts'

interface Pair {
  sockets: [Socket, Socket]
  /** Bytes of it vanished: no more come through, in either direction. */
  isLost: boolean
}

/**
 * A TCP proxy that can be a bad network: it resets connections, or swallows what they carry. A connection that lost bytes
 * is never used again: it is reset when the silence ends.
 */
export async function startProxy(target: { host: string; port: number }) {
  const pairs = new Set<Pair>()
  let silent = false
  let lost = 0

  function join(inner: Socket): void {
    const outer = connect(target)
    const pair: Pair = { sockets: [inner, outer], isLost: false }
    pairs.add(pair)
    carry(inner, outer, pair)
    carry(outer, inner, pair)
  }

  function carry(from: Socket, to: Socket, pair: Pair): void {
    from.setNoDelay(true)
    from.on('error', () => {})
    from.on('data', (chunk) => {
      if (silent) {
        pair.isLost = true
        lost += 1
      }
      if (!pair.isLost) to.write(chunk)
    })
    from.on('close', (hadError) => {
      if (to.closed) pairs.delete(pair)
      else if (silent) pair.isLost = true
      else if (hadError || pair.isLost) abort(to)
      else to.end()
    })
  }

  const server = createServer(join)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const resetAll = (open: Pair[]) => {
    for (const { sockets } of open) for (const socket of sockets) abort(socket)
  }
  atEnd(async () => {
    server.close()
    resetAll([...pairs])
  })
  return {
    port: (server.address() as AddressInfo).port,
    /** Answers how many connections were reset. */
    reset(): number {
      const open = [...pairs]
      resetAll(open)
      return open.length
    },
    silence: () => void (silent = true),
    /** Ends the silence. Answers how many chunks of bytes were lost in it. */
    listen(): number {
      silent = false
      resetAll([...pairs].filter(({ isLost }) => isLost))
      const chunks = lost
      lost = 0
      return chunks
    },
  }
}

/** Node leaves a socket open that is to be reset while it is being connected or ended. */
function abort(socket: Socket): void {
  if (socket.connecting || socket.writableEnded) socket.destroy()
  else socket.resetAndDestroy()
}

export type Proxy = Awaited<ReturnType<typeof startProxy>>
