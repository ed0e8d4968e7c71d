import { randomUUID } from 'node:crypto'
import { sql as raw } from 'kysely'
import type { Sql } from '../../../core/database/sql.ts'

/** How long an export lasts of which no further page is read: its reader is gone, or stands still. */
export const EXPORT_LEASE_SECONDS = 60

const fromNow = raw<Date>`clock_timestamp() + ${EXPORT_LEASE_SECONDS} * interval '1 second'`

/** A partner's only export, over all processes. */
export interface ExportLease {
  partnerId: number
  lease: string
}

/** @returns `undefined` while the partner has another one. */
export async function beginExport(sql: Sql, partnerId: number): Promise<ExportLease | undefined> {
  const lease = randomUUID()
  const row = await sql
    .insertInto('exports')
    .values({ partner_id: partnerId, lease, leased_until: fromNow })
    .onConflict((conflict) =>
      conflict
        .column('partner_id')
        .doUpdateSet({ lease, leased_until: fromNow })
        .where(raw<boolean>`exports.leased_until <= clock_timestamp()`),
    )
    .returning('lease')
    .executeTakeFirst()
  return row && { partnerId, lease }
}

/** @returns false if another one has begun since. */
export async function renewExport(sql: Sql, { partnerId, lease }: ExportLease): Promise<boolean> {
  const { numUpdatedRows } = await sql
    .updateTable('exports')
    .set({ leased_until: fromNow })
    .where('partner_id', '=', partnerId)
    .where('lease', '=', lease)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

export async function endExport(sql: Sql, { partnerId, lease }: ExportLease): Promise<void> {
  await sql
    .updateTable('exports')
    .set({ leased_until: raw<Date>`clock_timestamp()` })
    .where('partner_id', '=', partnerId)
    .where('lease', '=', lease)
    .execute()
}
