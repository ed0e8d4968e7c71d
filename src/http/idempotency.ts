import { createHash } from 'node:crypto'
import { defineEntity, p } from '@mikro-orm/core'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type RawBuilder, sql as raw } from 'kysely'
import { instant } from '../database/columns.ts'
import type { Sql } from '../database/sql.ts'
import { open, type Place } from '../seal.ts'
import { IDEMPOTENCY_KEY, type KeyedCall } from '../values.ts'
import { ApiError, invalidRequest } from './errors.ts'

/** The `Idempotency-Key` of a request, kept for 24 hours with the answer. */
export const IdempotencyKey = defineEntity({
  name: 'IdempotencyKey',
  tableName: 'idempotency_keys',
  properties: {
    partnerId: p.integer().primary(),
    /** With the call's name before it, except for create-lead. */
    key: p.text().primary(),
    /** Sealed for create-lead, whose body has personal data. */
    requestHash: p.text(),
    response: p.text(),
    /** The lead that create-lead made; its erasure deletes the key. */
    leadId: p.integer().nullable(),
    /** Where the answer's signing secret is sealed: no second copy of it is stored. */
    secretAt: p.text().nullable(),
    createdAt: instant().defaultRaw('now()'),
  },
})

/** A request with an `Idempotency-Key`. */
export interface KeyedRequest {
  partnerId: number
  /** As it is stored. */
  key: string
  /** A hash of the request's body: the same key with another body is a mistake. */
  requestHash: string
}

/** How long a key is remembered. */
const freshSince = raw<Date>`now() - interval '24 hours'`

/** Where a request hash is sealed: unsealed, it would confirm a guess who the borrower is. A lead has at most one key. */
export const requestHashPlace = (leadId: number): Place => `idempotency_keys:${leadId}:request_hash`

/** Its `requestHash` is sealed if it has a `leadId`. */
interface NewKey extends KeyedRequest {
  response: string | RawBuilder<string>
  leadId: number | null
}

/** Inserts a key, unless it is there and fresh. Waits for the commit of a concurrent request with the same one. */
export const insertKey = ({ partnerId, key, requestHash, response, leadId }: NewKey) => raw`
  insert into idempotency_keys (partner_id, key, request_hash, response, lead_id)
  values (${partnerId}, ${key}, ${requestHash}, ${response}, ${leadId}::int)
  on conflict (partner_id, key) do update
    set request_hash = excluded.request_hash, response = excluded.response, lead_id = excluded.lead_id,
      secret_at = null, created_at = now()
    where idempotency_keys.created_at <= ${freshSince}
  returning lead_id`

interface Remembered<Answer> {
  kind: 'replayed'
  answer: Answer
  leadId: number | null
  /** Where the answer's signing secret is sealed. */
  secretAt: string | null
}

/** The answer to an earlier request with the same key, or a conflict if the body was another one. */
export async function findAnswer<Answer>(
  sql: Sql,
  { partnerId, key, requestHash }: KeyedRequest,
  encryptionKeys: readonly Buffer[] = [],
): Promise<Remembered<Answer> | { kind: 'conflict'; leadId: number | null } | undefined> {
  const row = await sql
    .selectFrom('idempotency_keys')
    .select(['request_hash', 'response', 'lead_id', 'secret_at'])
    .where('partner_id', '=', partnerId)
    .where('key', '=', key)
    .where('created_at', '>', freshSince)
    .executeTakeFirst()
  if (row === undefined) return undefined
  const { request_hash: stored, lead_id: leadId, secret_at: secretAt } = row
  const known = leadId === null ? stored : open(stored, requestHashPlace(leadId), encryptionKeys)
  if (known !== requestHash) return { kind: 'conflict', leadId }
  return { kind: 'replayed', answer: JSON.parse(row.response) as Answer, leadId, secretAt }
}

/**
 * Does `work` once for all requests with the same key. The work and its answer are committed together; a concurrent repeat
 * waits for the commit, and gets the answer with the header `Idempotent-Replayed`. If `work` throws, both are rolled back, so
 * refusals are not stored. Without a key, each request does the work.
 *
 * @param work returns the answer, and where its signing secret is sealed.
 * @throws {ApiError} IDEMPOTENCY_CONFLICT
 */
export async function answerOnce<Answer extends object>(
  sql: Sql,
  call: KeyedCall,
  [request, reply]: readonly [FastifyRequest, FastifyReply],
  work: (sql: Sql) => Promise<{ answer: Answer; secretAt?: Place }>,
): Promise<{ kind: 'made'; answer: Answer } | Remembered<Answer>> {
  const keyed = keyedRequest(request, call)
  if (keyed === undefined) return { kind: 'made', answer: (await work(sql)).answer }
  return sql.transaction().execute(async (trx) => {
    const { rows } = await insertKey({ ...keyed, response: '', leadId: null }).execute(trx)
    if (rows.length === 0) {
      const earlier = await findAnswer<Answer>(trx, keyed)
      if (earlier?.kind !== 'replayed') throw new ApiError('IDEMPOTENCY_CONFLICT')
      reply.header('idempotent-replayed', 'true')
      return earlier
    }
    const { answer, secretAt } = await work(trx)
    await trx
      .updateTable('idempotency_keys')
      .set({ response: JSON.stringify(answer), secret_at: secretAt ?? null })
      .where('partner_id', '=', keyed.partnerId)
      .where('key', '=', keyed.key)
      .execute()
    return { kind: 'made', answer }
  })
}

/**
 * The request with its key; `undefined` if it has none. Each call has keys of its own, stored with the call's name and a
 * space before them; those of create-lead are stored as they are.
 *
 * @throws {ApiError} if the header is there and not well-formed.
 */
export function keyedRequest(request: FastifyRequest, call: KeyedCall): KeyedRequest | undefined {
  const key = idempotencyKeyOf(request)
  if (key === undefined) return undefined
  const stored = call === 'create-lead' ? key : `${call} ${key}`
  return { partnerId: request.partnerId, key: stored, requestHash: hashOf(request.body) }
}

/** @throws {ApiError} if the header is there and not well-formed. */
export function idempotencyKeyOf({ headers }: FastifyRequest): string | undefined {
  const key = headers['idempotency-key']
  if (key === undefined) return undefined
  if (typeof key === 'string' && IDEMPOTENCY_KEY.test(key)) return key
  throw invalidRequest({
    field: 'Idempotency-Key',
    problem: 'must have 1 to 255 visible ASCII characters',
  })
}

/** Absent and `null` hash alike, so a release that adds an optional field causes no conflicts. */
function hashOf(body: unknown): string {
  const present = JSON.stringify(body, (_, value: unknown) => value ?? undefined)
  return createHash('sha256').update(present).digest('hex')
}

/** The header in OpenAPI. `scope` says how long a key counts, and for what. */
export function idempotencyParameter(scope: string, example: string) {
  return {
    name: 'Idempotency-Key',
    in: 'header',
    description: `Makes retries safe. 1 to 255 visible ASCII characters, ${scope}. For example the id of the loan application, or a UUID.`,
    schema: { type: 'string', pattern: IDEMPOTENCY_KEY.source },
    example,
  }
}

/** What OpenAPI says of a call whose answer is remembered. */
export const keyedOperation = {
  parameters: [
    idempotencyParameter(
      'unique to each request, remembered for 24 hours',
      '0c8f6a52-7d0b-4f52-9a44-5f0f6f0f4b8e',
    ),
  ],
  responseHeaders: ['Idempotent-Replayed'] as const,
}
