import { once } from 'node:events'
import { createServer } from 'node:net'

/** The first port from `preferred` on that is free on 127.0.0.1. */
export async function freePort(preferred: number): Promise<number> {
  for (let port = preferred; port <= 65_535; port++) {
    if (await isFree(port)) return port
  }
  throw new Error(`No port from ${preferred} on is free on 127.0.0.1.`)
}

async function isFree(port: number): Promise<boolean> {
  const probe = createServer().listen({ port, host: '127.0.0.1', exclusive: true })
  try {
    await once(probe, 'listening')
  } catch {
    return false
  }
  probe.close()
  await once(probe, 'close')
  return true
}
