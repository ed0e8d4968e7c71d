import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { atEnd } from '../support/at-end.ts'
import { temporaryFolder } from '../support/folder.ts'
import { preload } from '../support/processes.ts'

const program = path.join(import.meta.dirname, '../../src/clients/typescript/prs/main.ts')

type Environment = Record<string, string>

/** The command, with a state folder of its own. */
export function prsOf() {
  const folder = temporaryFolder()
  const state = path.join(folder, 'state')
  const settings = (environment: Environment): Environment => ({
    PATH: process.env.PATH ?? '',
    HOME: folder,
    XDG_STATE_HOME: state,
    ...environment,
  })
  return {
    state: path.join(state, 'partner-referrals'),

    /** Runs it to its end. */
    run: (args: readonly string[], environment: Environment = {}) =>
      new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
        const options = { env: settings(environment), timeout: 60_000 }
        execFile(process.execPath, [...preload, program, ...args], options, (error, stdout, stderr) =>
          resolve({ code: error === null ? 0 : Number(error.code ?? -1), stdout, stderr }),
        )
      }),

    /** Starts it, and waits for its first line. */
    start: (args: readonly string[], environment: Environment = {}) =>
      started(spawn(process.execPath, [...preload, program, ...args], { env: settings(environment) })),
  }
}

export type Prs = ReturnType<typeof prsOf>

async function started(child: ChildProcess) {
  const lines: string[] = []
  const errors: string[] = []
  const waiting = new Set<() => void>()
  const ended = once(child, 'exit').then(() => waiting.forEach((wake) => wake()))
  createInterface({ input: child.stdout! }).on('line', (line) => {
    lines.push(line)
    for (const wake of waiting) wake()
  })
  child.stderr?.on('data', (chunk) => {
    errors.push(String(chunk))
    for (const wake of waiting) wake()
  })
  const process = {
    pid: child.pid ?? 0,
    lines,
    stderr: () => errors.join(''),
    /** Resolves as soon as it has written that; fails if it ends before. */
    async until(enough: () => boolean): Promise<void> {
      while (!enough()) {
        if (child.exitCode !== null || child.signalCode !== null)
          throw new Error(`prs ended: ${errors.join('')}`)
        await new Promise<void>((resolve) => waiting.add(resolve))
      }
    },
    async end(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
      if (child.exitCode === null && child.signalCode === null) child.kill(signal)
      await ended
      return child.exitCode
    },
  }
  atEnd(() => process.end('SIGKILL'))
  await process.until(() => lines.length > 0)
  return process
}
