import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ServiceProcess } from './processes.ts'

const processes: ServiceProcess[] = []

/**
 * Offers the service that files share, from the process that outlives them: it starts when the first of them asks.
 *
 * @returns where to ask.
 */
export async function offerSharedService(): Promise<string> {
  let starting: Promise<string> | undefined
  const server = createServer((_request, response) => {
    starting ??= startSharedService()
    starting.then(
      (facts) => response.end(facts),
      (error: unknown) => response.writeHead(500).end(String(error)),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  server.unref()
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function startSharedService(): Promise<string> {
  // a run that needs none does without its modules
  const { prepareService } = await import('./service.ts')
  const { environment, ownerUrl, startApi, startWorker } = await prepareService()
  const [api, worker] = await Promise.all([startApi(), startWorker()])
  processes.push(api, worker)
  return JSON.stringify({ environment, ownerUrl, port: api.port })
}

/** At once, without waiting. */
export function killSharedService(): void {
  for (const each of processes.splice(0)) void each.kill()
}
