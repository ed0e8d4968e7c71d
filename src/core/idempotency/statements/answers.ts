import { type RawBuilder, sql as raw } from 'kysely'
import type { Sql } from '../../database/sql.ts'
import { open, type Place } from '../../sealing/seal.ts'
import { type KeyedCall, storedKey } from '../decisions/idempotency-key.ts'

/** A request with an `Idempotency-Key`. */
export interface KeyedRequest {
  partnerId: number
  call: KeyedCall
  key: string
  /** A hash of the request's body: the same key with another body is a mistake. */
  requestHash: string
}

/** How long a key is remembered. */
export const freshSince = raw<Date>`now() - interval '24 hours'`

/** A hash of what can be guessed would tell who the borrower is. A lead has one key at most. */
export const requestHashPlace = (leadId: number): Place => `idempotency_keys:${leadId}:request_hash`

interface NewKey extends Pick<KeyedRequest, 'partnerId' | 'call' | 'key'> {
  /** Sealed, if it tells of a lead. */
  requestHash: string
  response: string | RawBuilder<string>
  leadId: number | null
}

/** Inserts a key, unless it is there and fresh. Waits for the commit of a concurrent request with the same one. */
export const insertKey = ({ partnerId, call, key, requestHash, response, leadId }: NewKey) => raw`
  insert into idempotency_keys (partner_id, key, request_hash, response, lead_id)
  values (${partnerId}, ${storedKey(call, key)}, ${requestHash}, ${response}, ${leadId}::int)
  on conflict (partner_id, key) do update
    set request_hash = excluded.request_hash, response = excluded.response, lead_id = excluded.lead_id,
      secret_at = null, created_at = now()
    where idempotency_keys.created_at <= ${freshSince}
  returning lead_id`

interface Remembered<Answer> {
  kind: 'replayed'
  answer: Answer
  leadId: number | null
  /** Where the secret is sealed that belongs to the answer. */
  secretAt: string | null
}
interface Conflict {
  kind: 'conflict'
  leadId: number | null
}

/** What an earlier request with the same key was answered, unless its body was another one. */
export async function findAnswer<Answer>(
  sql: Sql,
  { partnerId, call, key, requestHash }: KeyedRequest,
  encryptionKeys: readonly Buffer[] = [],
): Promise<Remembered<Answer> | Conflict | undefined> {
  const row = await sql
    .selectFrom('idempotency_keys')
    .select(['request_hash', 'response', 'lead_id', 'secret_at'])
    .where('partner_id', '=', partnerId)
    .where('key', '=', storedKey(call, key))
    .where('created_at', '>', freshSince)
    .executeTakeFirst()
  if (row === undefined) return undefined
  const { request_hash: stored, lead_id: leadId, secret_at: secretAt } = row
  const known = leadId === null ? stored : open(stored, requestHashPlace(leadId), encryptionKeys)
  if (known !== requestHash) return { kind: 'conflict', leadId }
  return { kind: 'replayed', answer: JSON.parse(row.response) as Answer, leadId, secretAt }
}

/** Remembers an answer, in the transaction of what it is about. */
export type Keep<Answer> = (answer: Answer, secretAt?: Place) => Promise<void>

interface Made<Answer> {
  kind: 'made'
  answer: Answer
}

/**
 * Does `work` once for all requests with the same key: it and its answer are committed together, and a concurrent repeat
 * waits for that. What `work` throws undoes both, so refusals are not remembered. Without a key, each request does it.
 */
export async function once<Answer>(
  sql: Sql,
  request: KeyedRequest | undefined,
  work: (sql: Sql, keep: Keep<Answer>) => Promise<Answer>,
): Promise<Made<Answer> | Remembered<Answer> | Conflict> {
  if (request === undefined) return { kind: 'made', answer: await work(sql, async () => {}) }
  return sql.transaction().execute(async (trx) => {
    const { rows } = await insertKey({ ...request, response: '', leadId: null }).execute(trx)
    if (rows.length === 0) {
      const earlier = await findAnswer<Answer>(trx, request)
      if (earlier === undefined) throw new Error('a key was taken and is not there')
      return earlier
    }
    let isKept = false
    const answer = await work(trx, async (kept, secretAt) => {
      await keepAnswer(trx, request, JSON.stringify(kept), secretAt ?? null)
      isKept = true
    })
    if (!isKept) throw new Error(`${request.call} did not keep its answer`)
    return { kind: 'made', answer }
  })
}

async function keepAnswer(
  trx: Sql,
  { partnerId, call, key }: KeyedRequest,
  response: string,
  secretAt: string | null,
): Promise<void> {
  await trx
    .updateTable('idempotency_keys')
    .set({ response, secret_at: secretAt })
    .where('partner_id', '=', partnerId)
    .where('key', '=', storedKey(call, key))
    .execute()
}
