import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Config } from './config.ts'

export interface HealthServer {
  port: number | undefined
  close(): Promise<void>
}

/** `/livez` and `/readyz` on METRICS_PORT, apart from the public port; nothing when it is not set. */
export async function startHealthServer(
  config: Pick<Config, 'HOST' | 'METRICS_PORT'>,
  { isReady }: { isReady: () => Promise<boolean> },
): Promise<HealthServer> {
  if (config.METRICS_PORT === undefined) return { port: undefined, close: async () => {} }
  const server = createServer((request, response) => {
    const answer = (status: number, text: string) =>
      response.writeHead(status, { 'content-type': 'text/plain' }).end(text)
    if (request.url === '/livez') answer(200, 'live\n')
    else if (request.url === '/readyz') {
      isReady().then(
        (ready) => answer(ready ? 200 : 503, ready ? 'ready\n' : 'not ready\n'),
        () => answer(503, 'not ready\n'),
      )
    } else answer(404, 'not found\n')
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(config.METRICS_PORT, config.HOST, resolve)
  })
  return {
    port: (server.address() as AddressInfo).port,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  }
}
