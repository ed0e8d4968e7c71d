import { createServer } from 'node:net'

/** The first port from `preferred` on that nobody listens on at 127.0.0.1, leaving out those `taken`. */
export async function freePort(preferred: number, taken: number[] = []): Promise<number> {
  for (let port = preferred; port <= 65_535; port++) {
    if (!taken.includes(port) && (await isFree(port))) return port
  }
  throw new Error(`No port from ${preferred} on is free on 127.0.0.1.`)
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer()
    probe.once('error', () => resolve(false))
    probe.listen({ port, host: '127.0.0.1', exclusive: true }, () => probe.close(() => resolve(true)))
  })
}
