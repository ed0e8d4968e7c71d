import { sql as raw } from 'kysely'
import type { Sql } from './sql.ts'

/** What PostgreSQL says of its connections. */
export interface Connections {
  /** Those of `pg_settings` that are asked for. */
  settings: Readonly<Record<string, string>>
  /** By whomever, this session among them. */
  connected: number
}

const CAPACITY = ['max_connections', 'superuser_reserved_connections', 'reserved_connections'] as const

/**
 * Why PostgreSQL has too few connections left for a process, in one line that says what to do; `undefined` if it has enough.
 *
 * @param connections the most that the process opens.
 */
export async function findTooFewConnections(sql: Sql, connections: number): Promise<string | undefined> {
  return tooFewConnections(await readConnections(sql), connections)
}

export function tooFewConnections({ settings, connected }: Connections, connections: number) {
  const [most = 0, ...reserved] = CAPACITY.map((name) => Number(settings[name] ?? 0))
  const free = reserved.reduce((left, count) => left - count, most) - connected
  // one of them is this session
  if (connections - 1 <= free) return undefined
  return `PostgreSQL’s max_connections of ${most} leaves ${Math.max(free, 0)} more connections, and this process opens up to ${connections}: raise max_connections, or lower DATABASE_POOL. See “Connections to PostgreSQL” in docs/operations/metrics-and-limits.md`
}

async function readConnections(sql: Sql): Promise<Connections> {
  // of others' sessions, it may not see more than that somebody has logged in
  const { rows } = await raw<Connections>`
    select (select json_object_agg(name, setting) from pg_settings where name = any(${[...CAPACITY]})) as settings,
      (select count(*)::int from pg_stat_activity where usesysid is not null and datid is not null) as connected`.execute(
    sql,
  )
  return rows[0] ?? { settings: {}, connected: 0 }
}
