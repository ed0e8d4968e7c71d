import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { atEnd } from '../support/at-end.ts'

/** As keepalive would notice, on either side, that the other is gone: 10 s, and three probes. */
const KEEPALIVE_MS = 25_000

interface Pair {
  sockets: [Socket, Socket]
  /** Bytes of it vanished: no more come through, in either direction. */
  isLost: boolean
}

/**
 * A TCP proxy that can be a bad network: it adds latency, resets connections, or swallows what they carry. A connection
 * that lost bytes is never used again: it is reset when the silence ends, or forgotten as by a firewall, which tells nobody.
 */
export async function startProxy(target: { host: string; port: number }) {
  const pairs = new Set<Pair>()
  let latencyMs = 0
  let silent = false
  let noticed = 0

  function join(inner: Socket): void {
    const outer = connect(target)
    const pair: Pair = { sockets: [inner, outer], isLost: false }
    pairs.add(pair)
    carry(inner, outer, pair)
    carry(outer, inner, pair)
  }

  /** Passes on in order, also when the latency falls. */
  function carry(from: Socket, to: Socket, pair: Pair): void {
    let dueAt = 0
    const inTime = (pass: () => void) => {
      dueAt = Math.max(dueAt, performance.now() + latencyMs)
      if (latencyMs > 0) noticed += 1
      const waitMs = dueAt - performance.now()
      if (waitMs > 0) setTimeout(pass, waitMs)
      else pass()
    }
    from.setNoDelay(true)
    from.on('error', () => {})
    from.on('data', (chunk) => {
      if (silent) {
        pair.isLost = true
        noticed += 1
      }
      if (!pair.isLost) inTime(() => to.write(chunk))
    })
    from.on('close', (hadError) => {
      if (to.closed) pairs.delete(pair)
      if (pair.isLost || silent) setTimeout(() => to.destroy(), KEEPALIVE_MS).unref()
      else inTime(() => (hadError ? abort(to) : to.end()))
    })
  }

  const server = createServer(join)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const resetAll = (open: Iterable<Pair> = [...pairs]) => {
    for (const { sockets } of open) for (const socket of sockets) abort(socket)
  }
  atEnd(async () => {
    server.close()
    resetAll()
  })
  return {
    port: (server.address() as AddressInfo).port,
    /** Answers how many connections were reset. */
    reset(): number {
      const { size } = pairs
      resetAll()
      return size
    },
    slowDown: (byMs: number) => void (latencyMs = byMs),
    silence: () => void (silent = true),
    /** Ends the silence; connections that it `forgets` stay silent until either side closes them. */
    listen(forgets: boolean): void {
      silent = false
      if (!forgets) resetAll([...pairs].filter(({ isLost }) => isLost))
    },
    /** How many chunks of bytes were late or lost so far. */
    noticed: () => noticed,
  }
}

/** Node leaves a socket open that is to be reset while it is being connected or ended. */
function abort(socket: Socket): void {
  if (socket.connecting || socket.writableEnded) socket.destroy()
  else socket.resetAndDestroy()
}

export type Proxy = Awaited<ReturnType<typeof startProxy>>
