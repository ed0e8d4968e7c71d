import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { ended, identify, isRunning, stopStranger, type ProcessIdentity } from './processes.ts'
import { writePrivately } from './settings.ts'

interface RecordedProcess extends ProcessIdentity {
  name: string
  signal: NodeJS.Signals
  /** Those with a lower one are stopped first. */
  stopOrder: number
}

interface RunFile {
  /** The process of `npm start`. */
  starter: ProcessIdentity
  processes: RecordedProcess[]
  /** Set once it has begun to stop them. */
  stopping?: boolean
  /** Empty until everything is ready. */
  environment: Record<string, string>
}

/** Where `npm start` keeps everything: npm runs scripts in the project's folder. */
export const defaultDataDirectory = path.resolve('.data')

const fileIn = (dataDirectory: string) => path.join(dataDirectory, 'run.json')

/** A run of `npm start`, on record for the next one and for the other commands. */
export interface Run {
  /** To be called at once after each start of a process: one that is not on record outlives a kill. */
  add: (name: string, pid: number, signal: NodeJS.Signals, stopOrder: number) => void
  /** Tells the other commands how to reach what runs. */
  ready: (environment: Record<string, string>) => void
  /** Everything is about to be stopped. */
  stopping: () => void
  /** Everything is stopped. */
  end: () => void
}

/**
 * Begins a run. One that is stopping is waited for, and what a killed one has left is stopped first.
 *
 * @throws {Error} when another run is alive: one line that says how to stop it.
 */
export async function beginRun(dataDirectory: string): Promise<Run> {
  const file = fileIn(dataDirectory)
  const previous = readRun(dataDirectory)
  if (previous) {
    if (previous.stopping) await ended(previous.starter)
    if (isRunning(previous.starter)) throw new Error(alreadyRunning(previous))
    await stopLeftovers(previous.processes)
  }
  rmSync(file, { force: true })
  const starter = identify(process.pid)
  if (!starter) throw new Error('The start time of this process cannot be read: is `ps` installed?')
  const content: RunFile = { starter, processes: [], environment: {} }
  claim(file, content)
  return {
    add: (name, pid, signal, stopOrder) => {
      const identity = identify(pid)
      if (identity) content.processes.push({ name, ...identity, signal, stopOrder })
      writePrivately(file, content)
    },
    ready: (environment) => {
      content.environment = environment
      writePrivately(file, content)
    },
    stopping: () => {
      content.stopping = true
      writePrivately(file, content)
    },
    end: () => rmSync(file, { force: true }),
  }
}

/** The environment variables that lead to the running sandbox; none when it is not running. */
export function runningSandbox(dataDirectory: string = defaultDataDirectory): Record<string, string> {
  const run = readRun(dataDirectory)
  return run && !run.stopping && isRunning(run.starter) ? run.environment : {}
}

function readRun(dataDirectory: string): RunFile | undefined {
  const file = fileIn(dataDirectory)
  if (!existsSync(file)) return undefined
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as RunFile
  } catch {
    // Cut off by a full disk or a power failure: nothing of it can be running.
    return undefined
  }
}

/** Of two starts at the same moment only one can create the file. */
function claim(file: string, content: RunFile): void {
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 })
  try {
    writeFileSync(file, JSON.stringify(content), { mode: 0o600, flag: 'wx' })
  } catch {
    throw new Error(`Another npm start has just begun, or ${file} cannot be written.`)
  }
}

async function stopLeftovers(processes: RecordedProcess[]): Promise<void> {
  for (const leftover of processes.toSorted((a, b) => a.stopOrder - b.stopOrder)) {
    await stopStranger(leftover, leftover.signal)
  }
}

function alreadyRunning({ starter, environment }: RunFile): string {
  const where = environment.API_URL ? `at ${environment.API_URL}` : 'and is starting'
  return `The sandbox is already running ${where}: stop it with Ctrl-C in its terminal, or with kill ${starter.pid}.`
}
