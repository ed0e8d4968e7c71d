import { sql as raw } from 'kysely'
import type { Sql } from '../../database/orm.ts'
import { noteCluster } from './generation.ts'

/** Writes down that a worker is at work: a record that went back says by this how far it reaches. */
export async function noteAlive(sql: Sql): Promise<void> {
  await sql.connection().execute(async (connection) => {
    await noteCluster({ query: async (text) => raw.raw(text).execute(connection) })
    await connection
      .updateTable('deployment')
      .set({ alive_at: raw<Date>`clock_timestamp()` })
      .execute()
  })
}
