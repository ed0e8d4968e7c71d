import { sql as raw } from 'kysely'
import { type Patience, settingsOf, TCP_USER_TIMEOUT_MS } from './session-options.ts'
import type { Sql } from './orm.ts'

/** What PostgreSQL says of a session, and of what is connected. */
export interface Session {
  /** Those of `pg_settings` that are asked for. */
  settings: Readonly<Record<string, string>>
  /** By whomever, this session among them. */
  connected: number
}

const LIMITS = ['lock_timeout', 'statement_timeout', 'idle_in_transaction_session_timeout'] as const
const CAPACITY = ['max_connections', 'superuser_reserved_connections', 'reserved_connections'] as const
/** Set by every process of ours, and by no pooler. */
const ARRIVED = 'tcp_user_timeout'

/**
 * What is wrong with the sessions that a process gets, each in one line that says what to do.
 *
 * @param connections the most that it opens.
 */
export async function findSessionFaults(
  sql: Sql,
  patience: Patience,
  connections: number,
): Promise<string[]> {
  return sessionFaults(await readSession(sql), patience, connections)
}

export function sessionFaults({ settings, connected }: Session, patience: Patience, connections: number) {
  if (settings[ARRIVED] !== String(TCP_USER_TIMEOUT_MS)) return lostLimits(settings, patience)
  const [most = 0, ...reserved] = CAPACITY.map((name) => Number(settings[name] ?? 0))
  const free = reserved.reduce((left, count) => left - count, most) - connected
  // one of them is this session
  if (connections - 1 <= free) return []
  return [
    `PostgreSQL’s max_connections of ${most} leaves ${Math.max(free, 0)} more connections, and this process opens up to ${connections}: raise max_connections, or lower DATABASE_POOL. See “Connections to PostgreSQL” in docs/operations/metrics-and-limits.md`,
  ]
}

/** Behind a pooler, or over a Unix socket: how many connections PostgreSQL gets from this process cannot be told there. */
function lostLimits(settings: Session['settings'], patience: Patience): string[] {
  const asked: Readonly<Record<string, unknown>> = settingsOf(patience)
  const off = LIMITS.filter((name) => asked[name] !== undefined && settings[name] === '0')
  if (off.length === 0) return []
  return [
    `PostgreSQL has no ${off.join(', ')} for this process, because a pooler drops the startup parameter options: have the pooler set them, as connect_query in docs/deploy/pgbouncer/pgbouncer.ini does`,
  ]
}

async function readSession(sql: Sql): Promise<Session> {
  const names = [...LIMITS, ...CAPACITY, ARRIVED]
  // of others' sessions, it may not see more than that somebody has logged in
  const { rows } = await raw<Session>`
    select (select json_object_agg(name, setting) from pg_settings where name = any(${names})) as settings,
      (select count(*)::int from pg_stat_activity where usesysid is not null and datid is not null) as connected`.execute(
    sql,
  )
  return rows[0] ?? { settings: {}, connected: 0 }
}
