import { sql as raw } from 'kysely'
import type { Sql } from '../../../core/database/orm.ts'
import { MOST_KEPT } from '../decisions/request-age.ts'

/** A request that was answered. Its texts are names that the service gave, and never what a partner sent. */
export interface AnsweredRequest {
  id: string
  partnerId: number
  keyId: number
  call: string
  status: number
  errorCode: string | null
  fields: readonly string[]
  leadId: number | null
  durationMs: number
}

/** Writes requests, in one statement however many they are. One that is there already stays as it is. */
export async function insertRequests(sql: Sql, requests: readonly AnsweredRequest[]): Promise<void> {
  // as array literals: the driver would quote each element of an array
  const column = (valueOf: (request: AnsweredRequest) => number | string | null) =>
    `{${requests.map(valueOf).map(String).join(',')}}`
  await raw`
    insert into requests (partner_id, id, key_id, call, status, error_code, fields, lead_id, duration_ms)
    select partner_id, id, key_id, call, status, error_code, string_to_array(fields, '+'), lead_id, duration_ms
    from unnest(
      ${column(({ partnerId }) => partnerId)}::int[], ${column(({ id }) => id)}::uuid[],
      ${column(({ keyId }) => keyId)}::int[], ${column(({ call }) => call)}::text[],
      ${column(({ status }) => status)}::smallint[], ${column(({ errorCode }) => errorCode)}::text[],
      ${column(({ fields }) => `"${fields.join('+')}"`)}::text[], ${column(({ leadId }) => leadId)}::int[],
      ${column(({ durationMs }) => durationMs)}::int[]
    ) as request (partner_id, id, key_id, call, status, error_code, fields, lead_id, duration_ms)
    on conflict do nothing`.execute(sql)
}

/** The most that is deleted at a time, within the limit of the API's statements. */
const MOST_DELETED = 5000

/**
 * Deletes the oldest of a partner's requests beyond those that are kept. They are found once, whatever is known of the table:
 * where nothing is known yet, as `in (select …)` they were found anew for each request that is kept.
 */
export async function deleteBeyond(sql: Sql, partnerId: number): Promise<void> {
  const beyond = sql
    .selectFrom('requests')
    .select('id')
    .where('partner_id', '=', partnerId)
    .orderBy('id', 'desc')
    .offset(MOST_KEPT)
    .limit(MOST_DELETED)
  await sql
    .deleteFrom('requests')
    .where('partner_id', '=', partnerId)
    .where('id', '=', raw<string>`any(array(${beyond}))`)
    .execute()
}
