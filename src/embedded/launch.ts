import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process'
import { createWriteStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { PassThrough } from 'node:stream'

/** A server process of ours, which runs until it is stopped. */
export interface Launched {
  name: string
  process: ChildProcess
  pid: number
  stopSignal: NodeJS.Signals
  logFile: string
  /** Settles when the process has ended, with the line that says why; never rejects. */
  ended: Promise<string>
  /** Asks it to end and waits until it has; after 10 s it is killed. */
  stop: () => Promise<void>
}

interface LaunchOptions extends SpawnOptions {
  name: string
  command: string
  args: string[]
  logFile: string
  /** The line of its output with which it says that it is ready. */
  readyLine: RegExp
  stopSignal: NodeJS.Signals
  /** Called as soon as there is a process, long before it is ready. */
  onSpawn?: (launched: Launched) => void
}

/**
 * Starts a server in a process group of its own, so that Ctrl-C in the terminal reaches only us and we
 * stop everything in order. Its output goes to `logFile`.
 *
 * @throws {Error} one line with the last line that it wrote, when it ends before it is ready.
 */
export async function launch(options: LaunchOptions): Promise<Launched> {
  const { name, command, args, logFile, readyLine, stopSignal, onSpawn, ...spawnOptions } = options
  const child = spawn(command, args, { ...spawnOptions, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  const { ready, ended } = follow(child, logFile, readyLine)
  if (child.pid === undefined) throw new Error(`${name} cannot be started: ${await ended}`)
  const stop = () => stopChild(child, ended, stopSignal)
  const launched = { name, process: child, pid: child.pid, stopSignal, logFile, ended, stop }
  onSpawn?.(launched)
  await readyOrEnded(ready, launched)
  return launched
}

/** Waits until a process is ready; throws one line when it ends before. */
export async function readyOrEnded<T>(
  ready: Promise<T>,
  { name, ended, logFile }: Omit<Launched, 'stop'>,
): Promise<T> {
  const failed = ended.then((line) => {
    throw new Error(`${name} ended while starting: ${line || 'it said nothing'} (${logFile})`)
  })
  return Promise.race([ready, failed])
}

function follow(child: ChildProcess, logFile: string, readyLine: RegExp) {
  const log = createWriteStream(logFile, { flags: 'a', mode: 0o600 })
  const output = new PassThrough()
  for (const stream of [child.stdout, child.stderr]) stream?.pipe(output, { end: false })
  output.pipe(log)
  let last = ''
  let fault = ''
  const ready = new Promise<void>((resolve) => {
    createInterface({ input: output }).on('line', (line) => {
      if (line.trim() !== '') last = line.trim()
      // PostgreSQL may add a hint after the line that says what is wrong.
      if (/\b(fatal|error)\b/i.test(line)) fault = last
      if (readyLine.test(line)) resolve()
    })
  })
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message))
    child.once('close', (_, signal) =>
      output.end(() => setImmediate(() => resolve(killed(signal) ?? (fault || last)))),
    )
  })
  return { ready, ended }
}

/** What there is to say of a process that was killed: it had no time for a last word. */
export function killed(signal: NodeJS.Signals | null): string | undefined {
  return signal === null ? undefined : `it was ended by ${signal}`
}

/** Ends a child of ours: `signal`, SIGKILL after `graceMs`; returns when it is gone. */
export async function stopChild(
  child: ChildProcess,
  ended: Promise<unknown>,
  signal: NodeJS.Signals,
  graceMs = 10_000,
): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) child.kill(signal)
  const force = setTimeout(() => child.kill('SIGKILL'), graceMs)
  await ended
  clearTimeout(force)
}
