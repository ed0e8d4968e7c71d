import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { atEnd } from './at-end.ts'

const root = path.join(import.meta.dirname, '../..')

/** What the scripts of package.json begin with: it also keeps compiled code, so a process starts in half the time. */
export const preload = ['--require', path.join(root, 'src/preload.cjs')]

export interface ServiceProcess {
  pid: number
  port: number | undefined
  metricsPort: number | undefined
  /** Everything that it wrote to stdout and stderr so far. */
  output: () => string
  /** Ends it with SIGTERM; answers its exit code. */
  stop: () => Promise<number | null>
  /** Ends it with SIGKILL, as a crash would. */
  kill: () => Promise<void>
}

export type Entry = `src/${'server' | 'worker' | 'migrate' | 'setup-temporal' | 'staff'}.ts`

function forkEntry(entry: Entry, environment: Record<string, string>, args: string[] = []): ChildProcess {
  return fork(path.join(root, entry), args, {
    cwd: root,
    execArgv: preload,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...environment },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
}

/** An entry point that is to end by itself, for it refuses to start for example: its exit code and output. */
export async function runToEnd(
  entry: Entry,
  environment: Record<string, string>,
  args: string[] = [],
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const child = forkEntry(entry, environment, args)
  const ended = once(child, 'close')
  atEnd(async () => void (await end(child, ended, 'SIGKILL')))
  const stdout: string[] = []
  const stderr: string[] = []
  child.stdout?.on('data', (chunk) => stdout.push(String(chunk)))
  child.stderr?.on('data', (chunk) => stderr.push(String(chunk)))
  await ended
  return { code: child.exitCode, stdout: stdout.join(''), stderr: stderr.join('') }
}

/** Starts an entry point of the service as it runs in a deployment, and waits until it is ready. */
export async function startProcess(
  entry: Entry,
  environment: Record<string, string>,
): Promise<ServiceProcess> {
  const child = forkEntry(entry, environment)
  const chunks: string[] = []
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => chunks.push(String(chunk)))
  const output = () => chunks.join('')
  const ended = once(child, 'exit')
  const first = await Promise.race([once(child, 'message'), ended.then(() => undefined)])
  if (first === undefined) throw new Error(`${entry} ended before it was ready: ${output()}`)
  const [{ port, metricsPort }] = first as [{ port?: number; metricsPort?: number }]
  const service: ServiceProcess = {
    pid: child.pid ?? 0,
    port,
    metricsPort,
    output,
    stop: () => end(child, ended, 'SIGTERM'),
    kill: async () => void (await end(child, ended, 'SIGKILL')),
  }
  atEnd(service.kill)
  return service
}

async function end(
  child: ChildProcess,
  ended: Promise<unknown>,
  signal: NodeJS.Signals,
): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) {
    child.kill(signal)
    await ended
  }
  return child.exitCode
}
