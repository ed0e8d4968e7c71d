import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process'
import { once } from 'node:events'
import { fstatSync, openSync, readSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

/** A server process of ours, which runs until it is stopped, or until this process is gone. */
export interface Launched {
  name: string
  process: ChildProcess
  pid: number
  /** Settles when the process has ended, with the reason and the log file on one line; never rejects. */
  ended: Promise<string>
  /** Shuts it down gracefully and waits for its end; it is killed if that takes too long. */
  stop: () => Promise<void>
  /** Ends it at once, with all its processes. */
  kill: () => void
}

export interface LaunchOptions extends SpawnOptions {
  name: string
  command: string
  args: string[]
  logFile: string
  /** The line that it prints when it is ready. One of our own programs sends a message instead. */
  readyLine?: RegExp
  /** What ends it at once. */
  killSignal?: NodeJS.Signals
  /** Called as soon as there is a process, long before it is ready. */
  onSpawn?: (launched: Launched) => void
}

/** What `npm start` gives to what it starts. */
export interface SandboxOptions {
  dataDirectory: string
  environment: NodeJS.ProcessEnv
  /** Gets one line for each webhook. */
  print: (line: string) => void
  onSpawn: (launched: Launched) => void
}

const POLL_MS = 10
/** The worker gives webhooks in flight 20 s, and itself 30 s. */
const GRACE_MS = 32_000
const TAIL_BYTES = 64 * 1024

/**
 * Starts a server and waits until it is ready. It gets a process group of its own, so Ctrl-C in the terminal reaches
 * only us and we stop everything in order. Its output goes to `logFile`.
 *
 * @returns the process, and the port that it listens on if it is one of our own programs.
 * @throws {Error} one line with the last error that it logged, if it ends before it is ready.
 */
export async function launch(options: LaunchOptions): Promise<Launched & { port?: number }> {
  const { name, command, args, logFile, readyLine, onSpawn, ...spawnOptions } = options
  const { killSignal = 'SIGKILL' } = options
  const log = openSync(logFile, 'a+', 0o600)
  const start = fstatSync(log).size
  const stdio: SpawnOptions['stdio'] = ['ignore', log, log, ...(readyLine ? [] : ['ipc' as const])]
  const child = spawn(command, args, { ...spawnOptions, detached: true, stdio })
  const { pid } = child
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message))
    child.once('exit', (_, signal) => {
      tellKeeper(`${pid}`)
      resolve(`${signal ? `it was ended by ${signal}` : lastError(tail(log, start))} (${logFile})`)
    })
  })
  if (pid === undefined) throw new Error(`${name} cannot be started: ${await ended}`)
  tellKeeper(`${pid} ${killSignal}`)
  const kill = () => void child.kill(killSignal)
  const stop = async () => {
    const force = setTimeout(kill, GRACE_MS)
    // each of our servers then shuts down gracefully
    child.kill('SIGINT')
    await ended
    clearTimeout(force)
  }
  const launched = { name, process: child, pid, ended, stop, kill }
  onSpawn?.(launched)
  const failed = ended.then((reason) => {
    throw new Error(`${name} ended while starting: ${reason}`)
  })
  const printed = async (line: RegExp): Promise<[object]> => {
    while (child.exitCode === null && child.signalCode === null && !line.test(tail(log, start)))
      await delay(POLL_MS)
    return [{}]
  }
  const ready = readyLine ? printed(readyLine) : once(child, 'message')
  const [{ port }] = (await Promise.race([ready, failed])) as [{ port?: number }]
  return { ...launched, port }
}

let keeper: ChildProcess | undefined

/** See `keeper.ts`. */
function tellKeeper(line: string): void {
  if (keeper === undefined) {
    const file = path.join(import.meta.dirname, 'keeper.ts')
    // Ctrl-C in the terminal must not end it first
    keeper = spawn(process.execPath, [file], { detached: true, stdio: ['pipe', 'ignore', 'ignore'] })
    keeper.unref()
    // somebody has ended it: it matters only if we are killed
    keeper.stdin?.on('error', () => {})
  }
  keeper.stdin?.write(`${line}\n`)
}

/** The end of what was written to the file since `start`. */
function tail(file: number, start: number): string {
  const { size } = fstatSync(file)
  const from = Math.max(Math.min(start, size), size - TAIL_BYTES)
  const bytes = Buffer.alloc(size - from)
  readSync(file, bytes, 0, bytes.length, from)
  return bytes.toString()
}

/** The message of a failed program ends with what it wrote to stderr. */
export const lastLine = (error: unknown) => (error as Error).message.trim().split('\n').at(-1) ?? ''

/** A JSON line of level error or fatal, or a text line with `FATAL:`, `TypeError:` or `level=ERROR`; stacks are indented. */
const ERROR_LINE = /^\{.*"level":[56]0\b|^(?![{\s]).*(\b(fatal|\w*error):|level=error)/i

/** The last error in a log; if there is none, its last line. */
function lastError(log: string): string {
  const lines = log.trim().split('\n')
  const line = lines.findLast((each) => ERROR_LINE.test(each)) ?? lines.at(-1)
  return /"msg":"(.*?)"[,}]/.exec(line ?? '')?.[1] ?? (line?.trim() || 'it printed nothing')
}

/** The first port from `preferred` on that is free on 127.0.0.1; with 0, any. */
export async function freePort(preferred: number): Promise<number> {
  for (let port = preferred; port <= 65_535; port++) {
    const probe = createServer().listen({ port, host: '127.0.0.1', exclusive: true })
    const isFree = await once(probe, 'listening').catch(() => false)
    const address = probe.address() as AddressInfo | null
    probe.close()
    if (isFree && address) return address.port
  }
  throw new Error(`No port from ${preferred} on is free on 127.0.0.1.`)
}
