import {
  chmodSync,
  copyFileSync,
  cpSync,
  lchownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { Client } from 'pg'
import { parse } from 'yaml'
import { parentOf } from '../../src/embedded/processes.ts'
import { unprivilegedOwner } from '../../src/embedded/postgres-programs.ts'

// PostgreSQL's manual, 25.3: continuous archiving and the low-level backup API. Paths are relative to the data folder, in
// which PostgreSQL runs these commands.

/** Where docker-compose.yml has the archive, and where it is here. */
const FOLDER = '/var/lib/wal-archive'
const HERE = '../archive'

const compose: { services: { postgres: { command: string[] } } } = parse(
  readFileSync(path.join(import.meta.dirname, '../../docker-compose.yml'), 'utf8'),
  { merge: true },
)

/** A setting with which a deployment archives, or gets the archive back. */
function settingOf(name: string): string {
  const found = compose.services.postgres.command.find((argument) => argument.startsWith(`-c${name}=`))
  if (!found?.includes(FOLDER)) throw new Error(`docker-compose.yml has no ${name}`)
  return found.slice(`-c${name}=`.length).replaceAll(FOLDER, HERE)
}

/** At most this many seconds are lost with the server's disk. A deployment has a minute. */
const ARCHIVE_TIMEOUT_SECONDS = 4

/** Settings of a PostgreSQL that archives its WAL. */
export const archiving = [
  'archive_mode=on',
  `archive_command=mkdir -p ${HERE}; ${settingOf('archive_command')}`,
  `archive_timeout=${ARCHIVE_TIMEOUT_SECONDS}s`,
]

interface Server {
  url: string
  data: string
  pid: () => number | undefined
}

/** What a restored server makes itself, or must not believe: left out of a base backup, but for the folders. */
const EMPTY = /^(pg_wal|pg_replslot|pg_dynshmem|pg_notify|pg_serial|pg_snapshots|pg_stat_tmp|pg_subtrans)$/
const LEFT_OUT = /^(postmaster\.(pid|opts)|pg_internal\.init.*|pgsql_tmp.*)$/

/** A base backup of a running server, beside its data folder; answers where it is. */
export async function baseBackup({ url, data }: Server): Promise<string> {
  const backup = `${data}.backup`
  const client = new Client(url)
  await client.connect()
  try {
    // both in one session: the backup is void when that ends
    await client.query(`select pg_backup_start('drill', fast => true)`)
    copyFolder(data, backup)
    const { rows } = await client.query<{ labelfile: string }>(
      'select labelfile from pg_backup_stop(wait_for_archive => true)',
    )
    writeFileSync(path.join(backup, 'backup_label'), rows[0]?.labelfile ?? '')
  } finally {
    await client.end()
  }
  return backup
}

/** Files change and vanish meanwhile; the WAL makes up for it. */
function copyFolder(from: string, to: string): void {
  mkdirSync(to, { recursive: true })
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [path.join(from, entry.name), path.join(to, entry.name)]
    if (LEFT_OUT.test(entry.name)) continue
    if (EMPTY.test(entry.name)) mkdirSync(target)
    else if (entry.isDirectory()) copyFolder(source, target)
    else copyUnlessGone(source, target)
  }
}

function copyUnlessGone(source: string, target: string): void {
  try {
    copyFileSync(source, target)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}

/** A copy of the data folder as a snapshot of its disk has it: everything at one moment, with the WAL. */
export function plainCopy({ data, pid }: Server): string {
  const copy = `${data}.copy`
  const server = pid()
  if (server === undefined) throw new Error('PostgreSQL does not run')
  const pids = [server, ...childrenOf(server)]
  for (const each of pids) process.kill(each, 'SIGSTOP')
  try {
    cpSync(data, copy, { recursive: true })
  } finally {
    for (const each of pids) process.kill(each, 'SIGCONT')
  }
  rmSync(path.join(copy, 'postmaster.pid'))
  return copy
}

function childrenOf(parent: number): number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return pids.map(Number).filter((pid) => parentOf(pid) === parent)
}

/**
 * Puts a copy in the place of the data folder, which is gone. A base backup is then recovered from the archive; a plain copy
 * has its own WAL, and begins a new archive: it writes other files of the same names.
 */
export function putBack({ data }: Server, copy: string): void {
  rmSync(data, { recursive: true, force: true })
  cpSync(copy, data, { recursive: true })
  const archive = path.join(data, '../archive')
  if (copy.endsWith('.backup')) writeFileSync(path.join(data, 'recovery.signal'), '')
  else renameSync(archive, `${archive}.before`)
  giveToOwner(data)
  chmodSync(data, 0o700)
}

/** PostgreSQL does not run as root, and takes only files that are its own. */
function giveToOwner(folder: string): void {
  const owner = unprivilegedOwner()
  if (owner === undefined) return
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  for (const file of ['.', ...files]) lchownSync(path.join(folder, file), owner.uid, owner.gid)
}

/** Settings of the start that recovers: to the end of the archive, or to a restore point. */
export function recovering(restorePoint?: string): string[] {
  const target = [`recovery_target_name=${restorePoint}`, 'recovery_target_action=promote']
  return [`restore_command=${settingOf('restore_command')}`, ...(restorePoint === undefined ? [] : target)]
}
