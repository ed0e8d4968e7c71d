import { fork } from 'node:child_process'
import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { killed, readyOrEnded, stopChild, type Launched } from './launch.ts'

const preload = path.join(import.meta.dirname, '../preload.cjs')

interface ServiceOptions {
  name: string
  /** The entry point that a deployment runs too. */
  entry: string
  environment: NodeJS.ProcessEnv
  logFile: string
  onSpawn: (launched: Launched) => void
}

/** What an entry point tells whoever started it once it serves. */
interface ReadyMessage {
  type?: string
  port?: number
}

/**
 * Starts an entry point of the service as a process of its own and waits for its `ready` message.
 *
 * @returns the port that it listens on, if any.
 * @throws {Error} one line with the last error that it logged, when it ends before it is ready.
 */
export async function startService(options: ServiceOptions): Promise<number | undefined> {
  const { name, entry, environment, logFile, onSpawn } = options
  const log = openSync(logFile, 'a', 0o600)
  const logged = fstatSync(log).size
  const child = fork(entry, [], {
    detached: true,
    execArgv: ['--require', preload],
    env: environment,
    stdio: ['ignore', log, log, 'ipc'],
  })
  closeSync(log)
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message))
    child.once('exit', (_, signal) =>
      resolve(killed(signal) ?? lastError(readFileSync(logFile).subarray(logged).toString())),
    )
  })
  const ready = new Promise<number | undefined>((resolve) => {
    child.on('message', ({ type, port }: ReadyMessage) => {
      if (type === 'ready') resolve(port)
    })
  })
  if (child.pid === undefined) throw new Error(`${name} cannot be started: ${await ended}`)
  const stopSignal = 'SIGTERM'
  // The worker gives webhooks in flight 20 s, and itself 30 s.
  const stop = () => stopChild(child, ended, stopSignal, 32_000)
  const launched = { name, process: child, pid: child.pid, stopSignal, logFile, ended, stop } as const
  onSpawn(launched)
  return readyOrEnded(ready, launched)
}

/** The last error in a log of pino lines; a process that never came to logging left plain text. */
function lastError(log: string): string {
  const lines = log.split('\n').flatMap((line) => line.trim() || [])
  const isError = (line: string) => levelOf(line) >= 50 || /^(\w*Error|Configuration):/.test(line)
  const line = lines.findLast(isError) ?? lines.at(-1) ?? ''
  return messageOf(line)
}

function levelOf(line: string): number {
  return Number(/"level":(\d+)/.exec(line)?.[1] ?? 0)
}

function messageOf(line: string): string {
  try {
    const { msg, err } = JSON.parse(line) as { msg?: string; err?: { message?: string } }
    return [...new Set([msg, err?.message])].filter(Boolean).join(': ')
  } catch {
    return line
  }
}
