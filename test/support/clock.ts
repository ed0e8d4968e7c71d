import type { Sql } from '../../src/database/sql.ts'

/** Puts a lead's clock ahead at once: nothing that falls due on the way has happened yet. */
export async function putClockAhead(sql: Sql, leadId: number, seconds: number): Promise<void> {
  await sql
    .updateTable('leads')
    .set((eb) => ({ clock_offset: eb('clock_offset', '+', seconds) }))
    .where('id', '=', leadId)
    .execute()
}
