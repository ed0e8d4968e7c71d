import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { atEnd } from './at-end.ts'

export interface Peer {
  port: number
  /** The authority of the server's certificate, for `localhost`; plain TCP when left out. */
  ca?: string
}

/**
 * Connections that send `bytes` and then nothing more: they read nothing and never end their side, whatever
 * the server does. Resolves once all of them are there.
 */
export async function silentPeers(count: number, { port, ca }: Peer, bytes = ''): Promise<Socket[]> {
  return Promise.all(
    Array.from({ length: count }, async () => {
      const options = { port, host: '127.0.0.1', servername: 'localhost', allowHalfOpen: true }
      const socket = ca === undefined ? connect(options) : connectTls({ ...options, ca })
      atEnd(async () => socket.destroy())
      socket.on('error', () => {})
      await once(socket, ca === undefined ? 'connect' : 'secureConnect')
      if (bytes !== '') socket.write(bytes)
      return socket
    }),
  )
}
