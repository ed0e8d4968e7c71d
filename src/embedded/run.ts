import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { defaultDataDirectory, writePrivately } from './data-directory.ts'
import type { Launched } from './launch.ts'
import { ended, identify, isRunning, stopStranger, type ProcessIdentity } from './processes.ts'

/** Senders of work stop before those that do it, and the database last. */
const stopOrder = ['API', 'worker', 'Temporal', 'PostgreSQL']

interface RunFile {
  /** The process of `npm start`. */
  starter: ProcessIdentity
  processes: (ProcessIdentity & { name: string })[]
  /** Set when the processes are being stopped. */
  stopping?: boolean
  /** Empty until everything is ready. */
  environment: Record<string, string>
}

/**
 * Begins a run of `npm start`, whose processes are on record for the next run and for the other commands. Waits for a
 * previous run that is stopping, and stops what a killed one has left.
 *
 * @param onUnexpectedEnd gets one line when a process has ended that was not stopped.
 * @throws {Error} one line that says how to stop the other run, if one is alive.
 */
export async function beginRun(dataDirectory: string, onUnexpectedEnd: (line: string) => void = () => {}) {
  const file = fileIn(dataDirectory)
  mkdirSync(dataDirectory, { recursive: true, mode: 0o700 })
  await endPrevious(dataDirectory)
  const starter = identify(process.pid)
  if (!starter) throw new Error('npm start needs the command `ps`: install it; on Windows, use WSL.')
  const record: RunFile = { starter, processes: [], environment: {} }
  const save = () => writePrivately(file, record)
  claim(file, record)
  const running: Launched[] = []
  return {
    /** To be called as soon as there is a process: one that is not on record survives a SIGKILL of `npm start`. */
    adopt: (launched: Launched) => {
      const { name, pid } = launched
      running.push(launched)
      const identity = identify(pid)
      if (identity) record.processes.push({ name, ...identity })
      save()
      if (record.stopping) launched.process.kill('SIGKILL')
      void launched.ended.then((reason) => {
        if (!record.stopping) onUnexpectedEnd(`${name} has ended: ${reason}`)
      })
    },
    /** Tells the other commands how to reach the sandbox. */
    ready: (environment: Record<string, string>) => {
      record.environment = environment
      save()
    },
    /** Stops everything in order, and returns when nothing is left. */
    stopAll: async () => {
      record.stopping = true
      try {
        save()
      } catch {
        // of a folder that was deleted, or a disk that is full: nobody reads it, and all has to stop
      }
      for (const { stop } of inStopOrder(running)) await stop()
      rmSync(file, { force: true })
    },
    /** Ends everything at once, without waiting. */
    killAll: () => {
      // SIGQUIT is PostgreSQL's immediate shutdown, which ends all its processes
      for (const { name, process: child } of running)
        child.kill(name === 'PostgreSQL' ? 'SIGQUIT' : 'SIGKILL')
    },
  }
}

/** The environment variables that lead to the running sandbox; none if it is not running. */
export function runningSandbox(dataDirectory = defaultDataDirectory): Record<string, string> {
  const run = readRun(dataDirectory)
  return run && !run.stopping && isRunning(run.starter) ? run.environment : {}
}

const fileIn = (dataDirectory: string) => path.join(dataDirectory, 'run.json')

function readRun(dataDirectory: string): RunFile | undefined {
  try {
    return JSON.parse(readFileSync(fileIn(dataDirectory), 'utf8')) as RunFile
  } catch {
    // there is none, or a full disk or a power failure cut it off: nothing in it can be running
    return undefined
  }
}

async function endPrevious(dataDirectory: string): Promise<void> {
  for (let previous = readRun(dataDirectory); previous;) {
    const { starter, processes, environment, stopping } = previous
    if (stopping) await ended(starter)
    if (isRunning(starter)) {
      const state = environment.API_URL ? `running at ${environment.API_URL}` : 'starting'
      throw new Error(
        `The sandbox is already ${state}: stop it with Ctrl-C in its terminal, or with kill ${starter.pid}.`,
      )
    }
    for (const leftover of inStopOrder(processes)) await stopStranger(leftover)
    // another start that waited for the same may have begun meanwhile
    const now = readRun(dataDirectory)
    if (isDeepStrictEqual(now?.starter, starter)) break
    previous = now
  }
  rmSync(fileIn(dataDirectory), { force: true })
}

function inStopOrder<Named extends { name: string }>(processes: Named[]): Named[] {
  return processes.toSorted((a, b) => stopOrder.indexOf(a.name) - stopOrder.indexOf(b.name))
}

/** If two runs begin at the same moment, only one can create the file. */
function claim(file: string, record: RunFile): void {
  try {
    writeFileSync(file, JSON.stringify(record), { mode: 0o600, flag: 'wx' })
  } catch {
    throw new Error(`Another npm start has just begun, or ${file} cannot be written.`)
  }
}
