import { once } from 'node:events'
import { mkdirSync, rmSync } from 'node:fs'
import { createConnection, createServer } from 'node:net'
import path from 'node:path'
import { json } from 'node:stream/consumers'
import { defaultDataDirectory } from './data-directory.ts'

/** What `npm start` tells whoever connects to its socket, which is open only while it runs. */
interface Run {
  pid: number
  /** The environment variables that lead to the sandbox; empty until everything is ready, and when it is stopping. */
  environment: Record<string, string>
}

/** Relative, because the path of a socket has at most some hundred bytes. */
const socketIn = (dataDirectory: string) => path.relative('.', path.join(dataDirectory, 'run.sock'))

/**
 * Makes this the one `npm start` of a data directory.
 *
 * @returns what tells the other commands how to reach the sandbox.
 * @throws {Error} one line that says how to stop the other, if one is running.
 */
export async function beginRun(dataDirectory: string): Promise<(environment: Run['environment']) => void> {
  mkdirSync(dataDirectory, { recursive: true, mode: 0o700 })
  const other = await findRun(dataDirectory)
  if (other) {
    const { API_URL: api } = other.environment
    const how = `stop it with Ctrl-C in its terminal, or with kill ${other.pid}`
    throw new Error(`The sandbox is already ${api ? `running at ${api}` : 'starting, or stopping'}: ${how}.`)
  }
  const run: Run = { pid: process.pid, environment: {} }
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.end(JSON.stringify(run))
  })
  const socket = socketIn(dataDirectory)
  // a killed start leaves it, and nobody listens
  rmSync(socket, { force: true })
  await once(server.listen(socket), 'listening')
  server.unref()
  return (environment) => (run.environment = environment)
}

/** The environment variables that lead to the running sandbox; none if it is not running. */
export async function runningSandbox(dataDirectory = defaultDataDirectory): Promise<Record<string, string>> {
  return { ...(await findRun(dataDirectory))?.environment }
}

const findRun = (dataDirectory: string): Promise<Run | undefined> =>
  json(createConnection(socketIn(dataDirectory))).then(
    (run) => run as Run,
    () => undefined,
  )
