import { sql as raw } from 'kysely'
import type { Sql } from '../sql.ts'

/** The oldest major version of PostgreSQL with which the service is tested. */
const OLDEST = 15

/** What to do if the server is older than that, in one line; `undefined` otherwise. */
export async function olderServer(sql: Sql, oldest = OLDEST): Promise<string | undefined> {
  const { rows } = await raw<{ major: number; version: string }>`
    select current_setting('server_version_num')::int / 10000 as major,
      current_setting('server_version') as version`.execute(sql)
  const { major = 0, version } = rows[0] ?? {}
  return major < oldest
    ? `PostgreSQL ${version} is older than the service needs: use PostgreSQL ${oldest} or newer`
    : undefined
}
