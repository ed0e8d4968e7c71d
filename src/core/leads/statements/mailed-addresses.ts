import { sql as raw } from 'kysely'
import { counted, type Retained } from '../../database/retained.ts'
import type { Sql } from '../../database/sql.ts'

const BATCH = 5000
/** For as long as mails to an address are counted. */
const DAYS = 1

const outdated = (sql: Sql) =>
  sql
    .selectFrom('onboarding_mails')
    .where('address_hash', 'is not', null)
    .where('claimed_at', '<', raw<Date>`clock_timestamp() - ${DAYS} * interval '1 day'`)

/** Addresses of mails that are not counted any more. */
export const mailedAddresses: Retained<unknown> = {
  name: 'mailed_addresses',
  meaning: 'hashes of the addresses of onboarding emails: emptied',
  days: () => DAYS,

  count: (sql) => counted(sql, outdated(sql).select('claimed_at as at')),

  async remove(sql) {
    const ids = outdated(sql).select('lead_id').orderBy('claimed_at').limit(BATCH).forUpdate().skipLocked()
    const { numUpdatedRows } = await sql
      .updateTable('onboarding_mails')
      .set({ address_hash: null })
      .where('lead_id', 'in', ids)
      .executeTakeFirstOrThrow()
    return { removed: Number(numUpdatedRows), isLast: Number(numUpdatedRows) < BATCH }
  },
}
