import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'

/** The first port from `preferred` on that is free on 127.0.0.1; with 0, any. */
export async function freePort(preferred: number): Promise<number> {
  for (let port = preferred; port <= 65_535; port++) {
    const probe = createServer()
    try {
      await once(probe.listen({ port, host: '127.0.0.1', exclusive: true }), 'listening')
      return (probe.address() as AddressInfo).port
    } catch {
      // taken
    } finally {
      probe.close()
    }
  }
  throw new Error(`No port from ${preferred} on is free on 127.0.0.1.`)
}
