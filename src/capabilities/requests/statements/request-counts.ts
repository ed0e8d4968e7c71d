import { sql as raw } from 'kysely'
import type { Sql } from '../../../core/database/orm.ts'
import { MOST_KEPT, oldestId } from '../decisions/request-age.ts'

export interface RequestCount {
  call: string
  status: number
  error_code: string | null
  requests: number
  last_id: string
}

/** Those of a partner's requests that are kept, by call and status, the most frequent first; `most` rows at most. */
export async function countRequests(sql: Sql, partnerId: number, most: number): Promise<RequestCount[]> {
  const { rows } = await raw<RequestCount>`
    select call, status, error_code, count(*)::int as requests, max(id::text) as last_id from (
      select id, call, status, error_code from requests
      where partner_id = ${partnerId} and id >= ${oldestId(Date.now())}::uuid
      order by id desc limit ${MOST_KEPT}
    ) as kept
    group by call, status, error_code order by status >= 400 desc, requests desc limit ${most}`.execute(sql)
  return rows
}
