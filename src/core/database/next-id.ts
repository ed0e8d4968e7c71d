import { sql as raw } from 'kysely'
import type { Sql } from './sql.ts'

/** Takes the id of a row before it is inserted: what is sealed in it is bound to the id. */
export async function nextId(sql: Sql, table: 'endpoint_secrets'): Promise<number> {
  const { rows } = await raw<{ id: number }>`
    select nextval(pg_get_serial_sequence(${table}, 'id'))::int as id`.execute(sql)
  if (rows[0] === undefined) throw new Error('a sequence has no value')
  return rows[0].id
}
