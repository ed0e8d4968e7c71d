import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Config } from '../config.ts'
import { fail, reasonOf } from '../fail.ts'

interface Health {
  /** Why it is not ready, in a few words; `undefined` if it is. */
  findFault: () => Promise<string | undefined>
  /** Why the service as a whole is not healthy: also what all processes share. */
  findSharedFault: () => Promise<string | undefined>
  /** The Prometheus registry of this process. */
  registry: { contentType: string; metrics(): Promise<string> }
}

/** More than orchestrators and Prometheus need. */
const MAX_CONNECTIONS = 100
const TIME_LIMITS = { requestTimeout: 10_000, headersTimeout: 10_000, connectionsCheckingInterval: 1000 }

/** Serves `/livez`, `/readyz`, `/healthz` and `/metrics` on METRICS_PORT of METRICS_HOST, if it is set. */
export async function startHealthServer(
  config: Pick<Config<'api'>, 'METRICS_HOST' | 'METRICS_PORT'>,
  health: Health,
) {
  if (config.METRICS_PORT === undefined) return { port: undefined, close: async () => {} }
  const server = createServer(TIME_LIMITS, ({ url = '' }, response) => {
    const [path] = url.split('?', 1)
    respond(path, response, health).catch(() => response.writeHead(500).end())
  })
  server.maxConnections = MAX_CONNECTIONS
  server.timeout = TIME_LIMITS.requestTimeout
  const { METRICS_HOST: host, METRICS_PORT } = config
  await once(server.listen(METRICS_PORT, host), 'listening').catch((error: unknown) =>
    fail(
      `/metrics cannot listen on ${host}:${METRICS_PORT}: ${reasonOf(error)}. Free the port, or set METRICS_PORT.`,
    ),
  )
  return {
    port: (server.address() as AddressInfo).port,
    // probes may be cut off, and an idle connection would keep the process running
    close: async () => {
      const closed = once(server.close(), 'close')
      server.closeAllConnections()
      await closed
    },
  }
}

async function respond(
  path: string | undefined,
  response: ServerResponse,
  { findFault, findSharedFault, registry }: Health,
): Promise<void> {
  const send = (status: number, text: string, type = 'text/plain') =>
    void response.writeHead(status, { 'content-type': type }).end(text)
  if (path === '/livez') return send(200, 'live\n')
  if (path === '/metrics') return send(200, await registry.metrics(), registry.contentType)
  const answer = (yes: string, fault: string | undefined) =>
    fault === undefined ? send(200, `${yes}\n`) : send(503, `not ${yes}: ${fault}\n`)
  if (path === '/readyz') return answer('ready', await findFault())
  if (path === '/healthz') return answer('healthy', await findSharedFault())
  send(404, 'not found\n')
}
