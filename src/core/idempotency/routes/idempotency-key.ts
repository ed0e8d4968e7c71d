import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Sql } from '../../database/sql.ts'
import { ApiError, invalidPayload } from '../../http/errors.ts'
import { IDEMPOTENCY_KEY, type KeyedCall } from '../decisions/idempotency-key.ts'
import { type Keep, type KeyedRequest, once } from '../statements/answers.ts'

const RULE = 'must have 1 to 255 visible ASCII characters'

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

/** @throws {ApiError} if the header is there and not well-formed. */
export function idempotencyKeyOf({ headers }: FastifyRequest): string | undefined {
  const key = headers['idempotency-key']
  if (key === undefined) return undefined
  if (typeof key === 'string' && IDEMPOTENCY_KEY.test(key)) return key
  throw invalidPayload(`The Idempotency-Key header ${RULE}.`, [{ field: 'Idempotency-Key', problem: RULE }])
}

/**
 * The request with its key; `undefined` if it has none.
 *
 * @throws {ApiError} if the header is there and not well-formed.
 */
export function keyedRequest(request: FastifyRequest, call: KeyedCall): KeyedRequest | undefined {
  const key = idempotencyKeyOf(request)
  if (key === undefined) return undefined
  return { partnerId: request.partnerId, call, key, requestHash: hashOf(request.body) }
}

/** An absent field and `null` are the same request, so a release that adds an optional field makes no conflicts. */
function hashOf(body: unknown): string {
  const present = JSON.stringify(body, (_, value: unknown) => value ?? undefined)
  return createHash('sha256').update(present).digest('hex')
}

/**
 * Answers a request, or repeats what an earlier one with its key was answered, and says so in a header.
 *
 * @throws {ApiError} IDEMPOTENCY_CONFLICT
 */
export async function answerOnce<Answer extends object>(
  sql: Sql,
  call: KeyedCall,
  [request, reply]: readonly [FastifyRequest, FastifyReply],
  work: (sql: Sql, keep: Keep<Answer>) => Promise<Answer>,
) {
  const given = await once(sql, keyedRequest(request, call), work)
  if (given.kind === 'conflict') throw new ApiError('IDEMPOTENCY_CONFLICT')
  if (given.kind === 'replayed') reply.header('idempotent-replayed', 'true')
  return given
}
