import { setTimeout as delay } from 'node:timers/promises'
import { sql as raw } from 'kysely'
import { isLockTimeout } from '../database-away.ts'
import { replaceFormerMigrations } from './former-migrations.ts'
import { TRY_LOCK, tryLock } from '../locks/locks.ts'
import { connect, type Orm, sqlOf } from '../orm.ts'
import { codeOf } from '../roles/role-rights.ts'
import type { Patience } from '../session-options.ts'
import type { Sql } from '../../../tables.ts'

const APPLICATION = 'migrate'
/**
 * A statement that changes a table waits for all that use it, and whatever comes after waits for that statement. So it
 * waits for less than a request of the API does, gives way, and is tried again.
 */
const MIGRATING: Patience = {
  connectMs: 2000,
  lockMs: 500,
  statementMs: 0,
  idleInTransactionMs: 0,
  application: APPLICATION,
}
const LOOK_MS = 100
const TURN_MS = 100
const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 15_000
/** Of two processes that make the same at the same time, one is told so by one of these. */
const MADE_ALREADY = ['23505', '42P07', '42723']

interface Waiting {
  /** For how long a migration is tried whose table others use, in milliseconds. */
  patienceMs?: number
  /** Gets a line that says what is waited for. */
  report?: (line: string) => void
}

/**
 * Brings the schema up to date. Two processes that try at once take turns.
 *
 * @returns how many migrations were applied.
 * @throws {Error} one line that says what to do: who uses a table that has to change, or that the schema is too old.
 */
export async function migrate(orm: Orm, waiting: Waiting = {}): Promise<number> {
  const sql = sqlOf(orm)
  const own = await connect(orm.config.get('clientUrl') ?? '', MIGRATING, { connections: 2 })
  // the caller's, which may be more than those in the folder
  own.config.set('migrations', orm.config.get('migrations'))
  try {
    await makeLock(sql)
    for (let turn = 0; ; turn += 1) {
      const applied = await inTurn(sql, () => applyPatiently(own, sql, waiting))
      if (applied !== undefined) return applied
      if (turn === 0) waiting.report?.('Another process applies migrations: waiting until it has ended.')
      await delay(TURN_MS)
    }
  } finally {
    await own.close()
  }
}

/** The lock, and what takes locks, are there before the first migration. */
async function makeLock(sql: Sql): Promise<void> {
  const { rows } = await raw<{ made: boolean }>`
    select to_regclass('lock_migration') is not null and to_regproc('try_lock') is not null as made`.execute(
    sql,
  )
  if (rows[0]?.made) return
  for (const statement of [raw`create table if not exists lock_migration ()`, TRY_LOCK])
    await statement.execute(sql).catch((error: unknown) => {
      if (!MADE_ALREADY.includes(codeOf(error))) throw error
    })
}

/**
 * Polls instead of waiting for the lock: a statement that waits holds a snapshot, and "create index concurrently" waits
 * until all older ones are gone.
 *
 * @returns `undefined` if another process holds the lock.
 */
async function inTurn(sql: Sql, work: () => Promise<number>): Promise<number | undefined> {
  return sql
    .transaction()
    .setIsolationLevel('read committed')
    .execute(async (trx) => {
      await raw`set local idle_in_transaction_session_timeout = 0`.execute(trx)
      return (await tryLock(trx, 'migration')) ? work() : undefined
    })
}

/** Applies what is pending; each migration is a transaction, and one that was applied is not tried again. */
async function applyPatiently(
  own: Orm,
  sql: Sql,
  { patienceMs = 5 * 60_000, report = () => {} }: Waiting,
): Promise<number> {
  const end = performance.now() + patienceMs
  let pending: number | undefined
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
    const holders = watchHolders(sql)
    try {
      await replaceFormerMigrations(own)
      pending ??= (await own.migrator.getPending()).length
      await own.migrator.up()
      return pending
    } catch (error) {
      if (!isLockTimeout(error)) throw error
      const held = `${holders.last()} uses a table that has to change`
      if (performance.now() + pauseMs > end) throw giveUp(held, error)
      if (pauseMs === FIRST_PAUSE_MS) report(`${held}: trying again for ${Math.round(patienceMs / 1000)} s.`)
    } finally {
      await holders.stop()
    }
    await delay(pauseMs)
  }
}

function giveUp(held: string, cause: unknown): Error {
  const remedy =
    'wait until it has ended, or end it with pg_terminate_backend, then run npm run migrate again'
  return new Error(`${held}: ${remedy}. What was applied stays`, { cause })
}

interface Holder {
  pid: number
  login: string | null
  application: string | null
  seconds: number | null
}

/** Looks again and again for whom the migration waits: once it has given up, PostgreSQL does not tell. */
function watchHolders(sql: Sql) {
  const stopped = new AbortController()
  let last: Holder | undefined
  const watching = (async () => {
    while (!stopped.signal.aborted) {
      last = (await findHolder(sql).catch(() => undefined)) ?? last
      await delay(LOOK_MS, undefined, { signal: stopped.signal }).catch(() => undefined)
    }
  })()
  return {
    last: () => (last === undefined ? 'another session' : nameOf(last)),
    stop: async () => {
      stopped.abort()
      await watching
    },
  }
}

/** No statement of theirs: it may hold a borrower's data. */
async function findHolder(sql: Sql): Promise<Holder | undefined> {
  const { rows } = await raw<Holder>`
    select holder.pid, holder.usename as login, nullif(holder.application_name, '') as application,
      extract(epoch from clock_timestamp() - holder.xact_start)::int as seconds
    from pg_stat_activity waiting, unnest(pg_blocking_pids(waiting.pid)) as blocking (pid)
      join pg_stat_activity holder on holder.pid = blocking.pid
    where waiting.datname = current_database() and waiting.application_name = ${APPLICATION}
    order by holder.xact_start limit 1`.execute(sql)
  return rows[0]
}

function nameOf({ pid, login, application, seconds }: Holder): string {
  const facts = [`login ${login ?? 'unknown'}`, `process ${pid}`]
  if (seconds !== null) facts.push(`for ${seconds} s`)
  return `${application ?? 'a session'} (${facts.join(', ')})`
}
