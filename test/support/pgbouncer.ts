import { spawnSync } from 'node:child_process'
import { chownSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { launch, type Launched } from '../../src/embedded/launch.ts'
import { unprivilegedOwner } from '../../src/embedded/postgres-programs.ts'
import { anyPort } from './any-port.ts'

type Section = Record<string, string>

/** The example for operators, by section; it has no quoted `;`. */
export function exampleIni(): Record<'databases' | 'pgbouncer', Section> {
  const sections: Record<'databases' | 'pgbouncer', Section> = { databases: {}, pgbouncer: {} }
  let section: Section = {}
  const text = readFileSync(
    path.join(import.meta.dirname, '../../docs/deploy/pgbouncer/pgbouncer.ini'),
    'utf8',
  )
  for (const line of text.split('\n').filter((each) => each !== '' && !each.startsWith(';'))) {
    const name = /^\[(databases|pgbouncer)\]$/.exec(line)?.[1] as 'databases' | 'pgbouncer' | undefined
    const [, key = '', value = ''] = /^(\w+) =\s?(.*)$/.exec(line) ?? []
    if (name !== undefined) section = sections[name]
    else if (key === '') throw new Error(`pgbouncer.ini has a line that is none: ${line}`)
    else section[key] = value
  }
  return sections
}

/** What a database's line sets on each session. */
export const connectQueryOf = (database = '') => /connect_query='([^']+)'/.exec(database)?.[1] ?? ''

/** Whether it carries named statements, as from 1.21 on. */
function carriesNames(): boolean {
  const { stdout } = spawnSync('pgbouncer', ['--version'], { encoding: 'utf8' })
  const [, major, minor] = /PgBouncer (\d+)\.(\d+)/.exec(stdout)?.map(Number) ?? []
  return (major ?? 0) > 1 || (minor ?? 0) >= 21
}

interface PgBouncerOptions {
  folder: string
  /** The server, with any role. */
  databaseUrl: string
  /** Roles and their passwords. */
  logins: Record<string, string>
  onSpawn: (launched: Launched) => void
  /** In place of what the example has. */
  changes?: Section
}

/**
 * PgBouncer before a server, with the example for operators: for all its databases, with a worker's limits, and
 * without TLS.
 */
export async function startPgBouncer({
  databaseUrl,
  logins,
  onSpawn,
  changes,
  ...options
}: PgBouncerOptions) {
  const folder = path.join(options.folder, 'pgbouncer')
  const inFolder = (name: string) => path.join(folder, name)
  mkdirSync(folder)
  const port = await anyPort()
  const example = exampleIni()
  const { hostname, port: serverPort } = new URL(databaseUrl)
  const settings = Object.entries({
    ...example.pgbouncer,
    listen_addr: '127.0.0.1',
    listen_port: String(port),
    auth_file: inFolder('userlist.txt'),
    ...(carriesNames() && { max_prepared_statements: '250' }),
    ...changes,
  }).filter(([name]) => !/_tls_/.test(name))
  const lines = [
    '[databases]',
    `* = host=${hostname} port=${serverPort} pool_size=20 connect_query='${connectQueryOf(example.databases.referrals_worker)}'`,
    '[pgbouncer]',
    ...settings.map(([name, value]) => `${name} = ${value}`),
  ]
  writeFileSync(inFolder('pgbouncer.ini'), `${lines.join('\n')}\n`)
  const users = Object.entries(logins).map(([role, password]) => `"${role}" "${password}"\n`)
  writeFileSync(inFolder('userlist.txt'), users.join(''), { mode: 0o600 })
  // it does not run as root
  const owner = unprivilegedOwner()
  if (owner)
    for (const each of ['', 'pgbouncer.ini', 'userlist.txt']) chownSync(inFolder(each), owner.uid, owner.gid)
  const launched = await launch({
    name: 'PgBouncer',
    command: 'pgbouncer',
    args: [inFolder('pgbouncer.ini')],
    cwd: folder,
    ...owner,
    logFile: path.join(options.folder, 'pgbouncer.log'),
    readyLine: /process up: PgBouncer/,
    onSpawn,
  })
  return { ...launched, port, carriesNames: carriesNames() }
}
