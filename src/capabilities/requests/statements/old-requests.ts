import { sql as raw } from 'kysely'
import { counted, MOST_COUNTED, type Retained } from '../../../core/database/retained.ts'
import type { Sql } from '../../../core/database/orm.ts'
import { KEPT_DAYS } from '../decisions/request-age.ts'

const BATCH = 500

/** Each partner's part of the primary key begins with its oldest requests. */
const oldOf = (days: number, limit: number) => raw<{ id: string; at: Date }>`(
  select old.partner_id, old.id, to_timestamp(('x' || translate(left(old.id::text, 13), '-', ''))::bit(48)::bigint / 1000.0) as at
  from partners cross join lateral (
    select partner_id, id from requests
    where partner_id = partners.id and id < (
      lpad(to_hex((extract(epoch from now() - ${days} * interval '1 day') * 1000)::bigint), 12, '0') || repeat('0', 20)
    )::uuid
    order by id limit ${limit}
  ) as old limit ${limit}
)`

export const oldRequests: Retained<unknown> = {
  name: 'requests',
  meaning: 'requests of partners: deleted',
  days: () => KEPT_DAYS,
  everyMs: 60 * 60 * 1000,

  count: (sql, days) => counted(sql, sql.selectFrom(oldOf(days, MOST_COUNTED).as('old')).select('at')),

  async remove(sql: Sql, days) {
    const { numAffectedRows = 0n } = await raw`
      delete from requests using ${oldOf(days, BATCH)} as old
      where requests.partner_id = old.partner_id and requests.id = old.id`.execute(sql)
    return { removed: Number(numAffectedRows), isLast: Number(numAffectedRows) < BATCH }
  },
}
