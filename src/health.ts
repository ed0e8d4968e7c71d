import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Config } from './config.ts'

export interface HealthServer {
  port: number | undefined
  close(): Promise<void>
}

interface Health {
  isReady: () => Promise<boolean>
  /** The Prometheus registry of this process. */
  registry: { contentType: string; metrics(): Promise<string> }
}

/** More than orchestrators and Prometheus need. */
const MAX_CONNECTIONS = 100
const TIME_LIMITS = { requestTimeout: 10_000, headersTimeout: 10_000, connectionsCheckingInterval: 1000 }

/** Serves `/livez`, `/readyz` and `/metrics` on METRICS_PORT, if it is set. */
export async function startHealthServer(
  config: Pick<Config<'api'>, 'HOST' | 'METRICS_PORT'>,
  health: Health,
): Promise<HealthServer> {
  if (config.METRICS_PORT === undefined) return { port: undefined, close: async () => {} }
  const server = createServer(TIME_LIMITS, ({ url = '' }, response) => {
    const [path] = url.split('?', 1)
    answer(path, response, health).catch(() => response.writeHead(500).end())
  })
  server.maxConnections = MAX_CONNECTIONS
  server.timeout = TIME_LIMITS.requestTimeout
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(config.METRICS_PORT, config.HOST, resolve)
  })
  return {
    port: (server.address() as AddressInfo).port,
    // probes may be cut off, and an idle connection would keep the process running
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function answer(
  path: string | undefined,
  response: ServerResponse,
  { isReady, registry }: Health,
): Promise<void> {
  const say = (status: number, text: string, type = 'text/plain') =>
    response.writeHead(status, { 'content-type': type }).end(text)
  if (path === '/livez') say(200, 'live\n')
  else if (path === '/readyz') {
    const ready = await isReady().catch(() => false)
    say(ready ? 200 : 503, ready ? 'ready\n' : 'not ready\n')
  } else if (path === '/metrics') say(200, await registry.metrics(), registry.contentType)
  else say(404, 'not found\n')
}
