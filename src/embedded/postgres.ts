import { execFile, type ExecFileOptions } from 'node:child_process'
import { chownSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { launch, type Launched } from './launch.ts'
import { installPrograms, privateFolder, unprivilegedOwner, type Owner } from './postgres-files.ts'
import { commandLine, identify, stopStranger } from './processes.ts'

const user = 'postgres'
const database = 'referrals'

interface PostgresOptions {
  /** Programs and data; the unprivileged user must be able to reach it when we are root. */
  folder: string
  port: number
  /** Of the superuser `postgres`; taken when the data is made, and not changed afterwards. */
  password: string
  logFile: string
  /** False gives up all safety against a crash for speed: for tests only. */
  durable?: boolean
  settings?: string[]
  onSpawn?: (launched: Launched) => void
}

/**
 * Starts PostgreSQL 18 on 127.0.0.1 with a database `referrals`, which it makes on the first start.
 *
 * @throws {Error} one line with PostgreSQL's own last line.
 */
export async function startPostgres(
  options: PostgresOptions,
): Promise<Launched & { url: string; port: number }> {
  const { folder, port, password, logFile, durable = true, settings = [], onSpawn } = options
  const owner = unprivilegedOwner()
  privateFolder(folder, owner)
  const programs = await installPrograms(folder, owner)
  const data = path.join(folder, 'data')
  if (!existsSync(data)) await makeData({ folder, data, programs, owner, password, durable })
  await stopPrevious(data)
  const launched = await launch({
    name: 'PostgreSQL',
    command: path.join(programs, 'postgres'),
    args: ['-D', data, ...serverSettings(port, durable, settings)],
    // As another user it may not be allowed to enter the folder that we are in.
    cwd: folder,
    ...owner,
    env: neutralEnvironment(),
    logFile,
    readyLine: /database system is ready to accept connections/,
    stopSignal: 'SIGINT',
    onSpawn,
  })
  return { ...launched, port, url: postgresUrl(port, password) }
}

/** Where it answers once it is started. */
export function postgresUrl(port: number, password: string): string {
  return `postgresql://${user}:${password}@127.0.0.1:${port}/${database}`
}

function serverSettings(port: number, durable: boolean, settings: string[]): string[] {
  const fast = durable ? [] : ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off']
  const all = [
    `port=${port}`,
    'listen_addresses=127.0.0.1',
    // Its folder would have to be short, and shared with other servers.
    'unix_socket_directories=',
    'timezone=UTC',
    'log_timezone=UTC',
    // who waits for a lock finds out that its client is gone; Windows cannot tell
    ...(process.platform === 'win32' ? [] : ['client_connection_check_interval=2s']),
    ...fast,
    ...settings,
  ]
  return all.flatMap((setting) => ['-c', setting])
}

interface NewData extends Pick<PostgresOptions, 'folder' | 'password'> {
  data: string
  programs: string
  owner: Owner | undefined
  durable: boolean
}

/** Makes the data under another name first, so that one that is there is always a whole one. */
async function makeData({ folder, data, programs, owner, password, durable }: NewData): Promise<void> {
  const unfinished = `${data}.unfinished`
  const passwordFile = path.join(folder, 'password')
  rmSync(unfinished, { recursive: true, force: true })
  writeFileSync(passwordFile, password, { mode: 0o600 })
  if (owner) chownSync(passwordFile, owner.uid, owner.gid)
  const run = (program: string, args: string[], input = '') =>
    runProgram(path.join(programs, program), args, input, { cwd: folder, ...owner })
  try {
    // PostgreSQL's own C.UTF-8 is the same on every system, whatever locales that has.
    const locale = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8']
    const access = [`--username=${user}`, `--pwfile=${passwordFile}`, '--auth=scram-sha-256']
    await run('initdb', ['-D', unfinished, ...access, ...locale, ...(durable ? [] : ['--no-sync'])])
    await run(
      'postgres',
      ['--single', '-D', unfinished, ...(durable ? [] : ['-F']), 'postgres'],
      `create database ${database}\n`,
    )
  } finally {
    rmSync(passwordFile, { force: true })
  }
  renameSync(unfinished, data)
}

function runProgram(program: string, args: string[], input: string, options: ExecFileOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = execFile(program, args, { ...options, env: neutralEnvironment() }, (error, _, stderr) => {
      const line = stderr.toString().trim().split('\n').at(-1)
      if (error) reject(new Error(`${path.basename(program)} failed: ${line || error.message}`))
      else resolve()
    })
    child.stdin?.end(input)
  })
}

/** PG… variables and a locale that the machine does not have would change what the programs do. */
function neutralEnvironment(): NodeJS.ProcessEnv {
  return { LC_ALL: 'C', ...(process.platform === 'win32' ? { SystemRoot: 'C:\\Windows' } : {}) }
}

/**
 * PostgreSQL refuses to start while the pid in its lock file is in use: by a server that outlived a killed
 * start, which is stopped here, or by another program that got its pid, for which the file is removed. A pid
 * that is not in use it judges itself, with regard to processes that may have outlived the server.
 */
async function stopPrevious(data: string): Promise<void> {
  const lock = path.join(data, 'postmaster.pid')
  if (!existsSync(lock)) return
  const holder = identify(Number(readFileSync(lock, 'utf8').split('\n')[0]))
  if (holder === undefined) return
  if (commandLine(holder.pid).includes(data)) await stopStranger(holder, 'SIGINT')
  else rmSync(lock)
}
