import { execFile } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { lastLine, launch, type Launched } from './launch.ts'
import { installPrograms, type Owner, unprivilegedOwner } from './postgres-programs.ts'
import { commandLine, identify, stopStranger } from './processes.ts'

const user = 'postgres'
const database = 'referrals'

interface PostgresOptions {
  /** Programs and data. If we are root, the unprivileged user must be able to reach it. */
  folder: string
  port: number
  /** Of the superuser `postgres`; set when the data is made, and not changed afterwards. */
  password: string
  logFile: string
  /** Server settings beside our own, as `name=value`. */
  settings?: string[]
  onSpawn?: (launched: Launched) => void
}

/**
 * Starts PostgreSQL 18 on 127.0.0.1 with a database `referrals`, which the first start makes.
 *
 * @throws {Error} one line with the last error that PostgreSQL logged.
 */
export async function startPostgres(options: PostgresOptions): Promise<Launched & { url: string }> {
  const { folder, port, password, logFile, settings = [], onSpawn } = options
  const owner = unprivilegedOwner()
  mkdirSync(folder, { recursive: true })
  if (owner) chownSync(folder, owner.uid, owner.gid)
  chmodSync(folder, 0o700)
  const programs = await installPrograms(folder, owner)
  const data = path.join(folder, 'data')
  // another user may be unable to enter the folder that we are in
  const as = { cwd: folder, ...owner, env: ENVIRONMENT }
  if (existsSync(data)) await stopPrevious(data)
  else await makeData({ data, programs, password, as })
  const launched = await launch({
    name: 'PostgreSQL',
    command: path.join(programs, 'postgres'),
    args: ['-D', data, ...[`port=${port}`, ...SETTINGS, ...settings].flatMap((setting) => ['-c', setting])],
    ...as,
    logFile,
    readyLine: /database system is ready to accept connections/,
    onSpawn,
  })
  return { ...launched, url: postgresUrl(port, password) }
}

export function postgresUrl(port: number, password: string): string {
  return `postgresql://${user}:${password}@127.0.0.1:${port}/${database}`
}

/** PG… variables, or a locale that the machine does not have, would change what the programs do. */
const ENVIRONMENT = { LC_ALL: 'C' }

const SETTINGS = [
  'listen_addresses=127.0.0.1',
  // its folder would need a short path, and be shared with other servers
  'unix_socket_directories=',
  'timezone=UTC',
  'log_timezone=UTC',
  // a statement that waits for a lock ends when its client is gone
  'client_connection_check_interval=2s',
]

interface NewData {
  data: string
  programs: string
  password: string
  as: Partial<Owner> & { cwd: string; env: NodeJS.ProcessEnv }
}

/** Makes the data under another name first, so that `data` is always complete. */
async function makeData({ data, programs, password, as }: NewData): Promise<void> {
  const unfinished = `${data}.unfinished`
  const passwordFile = `${data}.password`
  rmSync(unfinished, { recursive: true, force: true })
  writeFileSync(passwordFile, password, { mode: 0o600 })
  if (as.uid !== undefined && as.gid !== undefined) chownSync(passwordFile, as.uid, as.gid)
  const run = async (program: string, args: string[], input = '') => {
    const running = promisify(execFile)(path.join(programs, program), args, as)
    running.child.stdin?.end(input)
    await running.catch((error: unknown) => {
      throw new Error(`${program} failed: ${lastLine(error)}`, { cause: error })
    })
  }
  try {
    const access = [`--username=${user}`, `--pwfile=${passwordFile}`, '--auth=scram-sha-256']
    // PostgreSQL's own C.UTF-8 is the same on every system, whatever locales that has
    const locale = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8']
    await run('initdb', ['-D', unfinished, ...access, ...locale])
    await run('postgres', ['--single', '-D', unfinished, 'postgres'], `create database ${database}\n`)
  } finally {
    rmSync(passwordFile, { force: true })
  }
  renameSync(unfinished, data)
}

/**
 * PostgreSQL refuses to start while the pid in its lock file is in use. It may be a server that a killed start left
 * running, which is stopped here, or another program that got the pid, for which the lock file is removed. A pid that
 * is not in use is left to PostgreSQL, which looks for processes that have outlived the server.
 */
async function stopPrevious(data: string): Promise<void> {
  const lock = path.join(data, 'postmaster.pid')
  if (!existsSync(lock)) return
  const holder = identify(Number(readFileSync(lock, 'utf8').split('\n')[0]))
  if (holder === undefined) return
  if (commandLine(holder.pid).includes(data)) await stopStranger(holder)
  else rmSync(lock)
}
