import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process'
import { createWriteStream } from 'node:fs'
import { createInterface } from 'node:readline'

/** A server process of ours, which runs until it is stopped. */
export interface Launched {
  name: string
  process: ChildProcess
  pid: number
  /** Settles when the process has ended, with the last line that it wrote; never rejects. */
  ended: Promise<string>
  /** Asks it to end and waits until it has; after 10 s it is killed. */
  stop(): Promise<void>
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
  const launched = { name, process: child, pid: child.pid, ended, stop: () => stop(child, ended, stopSignal) }
  onSpawn?.(launched)
  const problem = await Promise.race([ready, ended.then((line) => line || 'no message')])
  if (problem !== undefined) throw new Error(`${name} ended while starting: ${problem} (${logFile})`)
  return launched
}

function follow(child: ChildProcess, logFile: string, readyLine: RegExp) {
  const log = createWriteStream(logFile, { flags: 'a', mode: 0o600 })
  let last = ''
  const ready = new Promise<undefined>((resolve) => {
    for (const stream of [child.stdout!, child.stderr!]) {
      createInterface({ input: stream }).on('line', (line) => {
        log.write(`${line}\n`)
        if (line.trim() !== '') last = line.trim()
        if (readyLine.test(line)) resolve(undefined)
      })
    }
  })
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message))
    child.once('close', () => log.end(() => resolve(last)))
  })
  return { ready, ended }
}

/** Ends a child of ours: `signal`, SIGKILL after 10 s; returns when it is gone. */
export async function stop(
  child: ChildProcess,
  ended: Promise<unknown>,
  signal: NodeJS.Signals,
): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) child.kill(signal)
  const force = setTimeout(() => child.kill('SIGKILL'), 10_000)
  await ended
  clearTimeout(force)
}
