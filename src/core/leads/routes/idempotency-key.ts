import type { FastifyRequest } from 'fastify'
import { IDEMPOTENCY_KEY } from '../decisions/idempotency-key.ts'
import { invalidPayload } from '../../http/errors.ts'

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

/** @throws {ApiError} if the header is there and not well-formed. */
export function idempotencyKeyOf({ headers }: FastifyRequest): string | undefined {
  const key = headers['idempotency-key']
  if (key === undefined) return undefined
  if (typeof key === 'string' && IDEMPOTENCY_KEY.test(key)) return key
  throw invalidPayload(`The Idempotency-Key header ${RULE}.`, [{ field: 'Idempotency-Key', problem: RULE }])
}
