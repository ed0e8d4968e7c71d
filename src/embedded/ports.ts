import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'

/**
 * The port of the API: the one that PORT asks for (with 0, any), or else the default one or the next that is free.
 *
 * @throws {Error} one line that says what to do, if PORT asks for one that is in use.
 */
export async function apiPort(
  wanted: number,
  { environment, report }: { environment: NodeJS.ProcessEnv; report: (line: string) => void },
): Promise<number> {
  const port = await freePort(wanted)
  if (port === wanted || wanted === 0) return port
  if (environment.PORT)
    throw new Error(
      `PORT is ${wanted}, which is in use: free it, set another, or unset PORT to use the next free one.`,
    )
  report(`Port ${wanted} is in use: the API listens on ${port} instead.`)
  return port
}

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
