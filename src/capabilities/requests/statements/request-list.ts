import { sql as raw } from 'kysely'
import type { Sql } from '../../../core/database/orm.ts'
import { MOST_KEPT, oldestId } from '../decisions/request-age.ts'

export interface RequestFilter {
  /** Only requests that came before this one. */
  before?: string
  id?: string
  leadId?: number
  /** The first and the last status of a range. */
  status?: readonly [first: number, last: number]
  limit: number
}

/**
 * A partner's requests, newest first. Filters go through those that are kept, in the order of the primary key: no other
 * index has to be written for each request.
 */
export async function listRequests(sql: Sql, partnerId: number, filter: RequestFilter) {
  const { before, id, leadId, status, limit } = filter
  return sql
    .selectFrom((eb) =>
      eb
        .selectFrom('requests')
        .selectAll()
        .where('partner_id', '=', partnerId)
        .where('id', '>=', oldestId(Date.now()))
        .orderBy('id', 'desc')
        .limit(MOST_KEPT)
        .as('kept'),
    )
    .select(['id', 'key_id', 'call', 'status', 'error_code', 'fields', 'lead_id', 'duration_ms'])
    .select(raw<string | null>`(select last4 from api_keys where api_keys.id = kept.key_id)`.as('key_last4'))
    .$if(before !== undefined, (query) => query.where('id', '<', before ?? ''))
    .$if(id !== undefined, (query) => query.where('id', '=', id ?? ''))
    .$if(leadId !== undefined, (query) => query.where('lead_id', '=', leadId ?? 0))
    .$if(status !== undefined, (query) =>
      query.where('status', '>=', status?.[0] ?? 0).where('status', '<=', status?.[1] ?? 0),
    )
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()
}
