import { sql as raw } from 'kysely'
import type { Sql } from '../../../../core/database/orm.ts'
import type { Clear } from '../../../../core/partners/statements/clear.ts'
import { freshSince } from '../../../../core/idempotency/statements/answers.ts'
import { type KeyedCall, storedKey } from '../../../../core/idempotency/decisions/idempotency-key.ts'
import { FAULT_ENDS_AFTER_MS, type CallFault, type FaultName, MOST_SHOWN } from '../decisions/fault.ts'
import type { FaultHappened } from '../tables/fault.ts'

/** Until when a key may have faults: a column of a statement that selects from `api_keys`. */
export const keyFaultsUntil = raw<Date | null>`
  (select max(faults.ends_at) from faults where faults.key_id = api_keys.id and times_left > 0)`

/** Whose fault it is. */
export interface FaultOwner {
  keyId: number
  partnerId: number
}

export interface NewFault {
  fault: FaultName
  /** Empty for one that happens to no call. */
  call: string
  times: number
  retryAfter: number | null
}

const ENDS_AT = raw<Date>`clock_timestamp() + ${FAULT_ENDS_AFTER_MS / 1000} * interval '1 second'`
const isLive = raw<boolean>`ends_at > clock_timestamp()`

/** Those that are shown of what happened, with one more. */
export const oneMore = (happened: Omit<FaultHappened, 'at'>) => raw<FaultHappened[]>`
  jsonb_path_query_array(
    (jsonb_build_object('at', floor(extract(epoch from clock_timestamp()))) || ${JSON.stringify(happened)}::jsonb)
      || happened,
    ${`$[0 to ${MOST_SHOWN - 1}]`}::text::jsonpath)`

/**
 * Injects a fault, in the place of an earlier one of its kind.
 *
 * @param knownAfterMs how long processes cache that a key has none.
 * @returns whether all of them know by now that the key has faults.
 */
export async function injectFault(
  sql: Sql,
  { keyId, partnerId }: FaultOwner,
  { fault, call, times, retryAfter }: NewFault,
  knownAfterMs: number,
): Promise<{ isKnown: boolean; endsAt: Date }> {
  const knownAfter = raw`${knownAfterMs} * interval '1 millisecond'`
  const { rows } = await raw<{ isKnown: boolean; endsAt: Date }>`
    with earlier as (
      select from faults where key_id = ${keyId} and times_left > 0
        and injected_at < clock_timestamp() - ${knownAfter} and ends_at > clock_timestamp() + ${knownAfter}
    )
    insert into faults (key_id, partner_id, fault, call, times, times_left, retry_after, ends_at)
    values (${keyId}, ${partnerId}, ${fault}, ${call}, ${times}, ${times}, ${retryAfter}, ${ENDS_AT})
    on conflict (key_id, fault, call) do update
      set times = excluded.times, times_left = excluded.times, retry_after = excluded.retry_after,
        happened = '[]', injected_at = clock_timestamp(), ends_at = excluded.ends_at
    returning ends_at as "endsAt", exists (select from earlier) as "isKnown"`.execute(sql)
  const [row] = rows
  if (row === undefined) throw new Error('a fault was not inserted')
  return row
}

/** Of a key, the newest first; those that are over, too. */
export async function readFaults(sql: Sql, keyId: number) {
  return sql
    .selectFrom('faults')
    .select(['fault', 'call', 'times', 'times_left', 'retry_after', 'happened', 'injected_at', 'ends_at'])
    .select(raw<boolean>`times_left > 0 and ends_at > clock_timestamp()`.as('is_active'))
    .where('key_id', '=', keyId)
    .orderBy('injected_at', 'desc')
    .execute()
}

/** Ends a key's faults. @returns how many there were. */
export async function clearFaults(sql: Sql, keyId: number): Promise<number> {
  const { numUpdatedRows } = await sql
    .updateTable('faults')
    .set({ ends_at: raw<Date>`clock_timestamp()` })
    .where('key_id', '=', keyId)
    .where('times_left', '>', 0)
    .where(isLive)
    .executeTakeFirst()
  return Number(numUpdatedRows)
}

/** Ends the faults of all of a partner's keys. */
export const endFaults: Clear = async (trx, partnerId) => {
  await trx
    .updateTable('faults')
    .set({ ends_at: raw<Date>`clock_timestamp()` })
    .where('partner_id', '=', partnerId)
    .where(isLive)
    .execute()
}

/** Whether a key's call may hang. */
export async function hasHangs(sql: Sql, keyId: number, call: string): Promise<boolean> {
  const found = await sql
    .selectFrom('faults')
    .select('fault')
    .where('key_id', '=', keyId)
    .where('fault', '=', 'hangs')
    .where('call', '=', call)
    .where('times_left', '>', 0)
    .where(isLive)
    .executeTakeFirst()
  return found !== undefined
}

/**
 * Takes the fault that happens to a call, if there is one, the oldest first: exactly as many calls as it says get it,
 * whichever process they come to.
 *
 * @param kinds which may happen to it.
 */
export async function takeFault(
  sql: Sql,
  keyId: number,
  { call, requestId, kinds }: { call: string; requestId: string; kinds: readonly CallFault[] },
): Promise<{ fault: CallFault; retryAfter: number | null } | undefined> {
  const { rows } = await raw<{ fault: CallFault; retryAfter: number | null }>`
    update faults set times_left = times_left - 1, happened = ${oneMore({ request_id: requestId })}
    from (
      select key_id, fault, call from faults
      where key_id = ${keyId} and call = ${call} and fault = any(${kinds}) and times_left > 0 and ${isLive}
      order by injected_at limit 1 for update
    ) next
    where faults.key_id = next.key_id and faults.fault = next.fault and faults.call = next.call
    returning faults.fault, faults.retry_after as "retryAfter"`.execute(sql)
  return rows[0]
}

/** Lets a known Idempotency-Key be one that expired, if a fault says so. @returns whether it did. */
export async function expireKey(
  sql: Sql,
  { keyId, partnerId }: FaultOwner,
  { call, key, requestId }: { call: KeyedCall; key: string; requestId: string },
): Promise<boolean> {
  const { rows } = await raw`
    with next as materialized (
      select key_id, fault, call from faults
      where key_id = ${keyId} and call = ${call} and fault = 'key_expired' and times_left > 0 and ${isLive}
      for update
    ), expired as (
      update idempotency_keys set created_at = ${freshSince}
      where partner_id = ${partnerId} and key = ${storedKey(call, key)} and created_at > ${freshSince}
        and exists (select from next)
      returning 1
    )
    update faults set times_left = times_left - 1, happened = ${oneMore({ request_id: requestId })}
    from next
    where faults.key_id = next.key_id and faults.fault = next.fault and faults.call = next.call
      and exists (select from expired)
    returning 1`.execute(sql)
  return rows.length > 0
}
