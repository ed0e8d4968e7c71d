import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import path from 'node:path'
import { listen } from './listen.ts'
import { preload } from './processes.ts'

const children: ChildProcess[] = []

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
  const port = await listen(server)
  server.unref()
  return `http://127.0.0.1:${port}`
}

async function startSharedService(): Promise<string> {
  const child = fork(path.join(import.meta.dirname, 'shared-service-process.ts'), { execArgv: preload })
  children.push(child)
  const [facts] = await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(() => Promise.reject(new Error('It ended before it was ready.'))),
  ])
  return JSON.stringify(facts)
}

/** Without waiting: it also ends when this process does. */
export function endSharedService(): void {
  for (const child of children.splice(0)) {
    child.disconnect()
    child.unref()
  }
}
