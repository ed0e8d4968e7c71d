import type { Sql } from '../../../core/database/orm.ts'
import { oldestId } from '../decisions/request-age.ts'

/** A request with this id, of whichever partner; `undefined` if none is kept. Reads the primary key of one partner after the other. */
export async function findRequest(sql: Sql, id: string) {
  return sql
    .selectFrom('partners')
    .innerJoin('requests', (join) =>
      join.onRef('requests.partner_id', '=', 'partners.id').on('requests.id', '=', id),
    )
    .select(['requests.partner_id', 'key_id', 'call', 'status', 'error_code', 'fields', 'lead_id'])
    .where('requests.id', '>=', oldestId(Date.now()))
    .executeTakeFirst()
}
