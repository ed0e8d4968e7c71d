import type { FastifyRequest } from 'fastify'
import { recordAudit } from '../audit.ts'
import { inTransaction, type Sql } from '../database/sql.ts'
import type { RouteDependencies } from '../http/dependencies.ts'
import { ApiError } from '../http/errors.ts'
import { auditName } from '../values.ts'
import type { PingOutcome } from '../webhooks/send.ts'
import { type LockedEndpoint, lockEndpoint } from './endpoint.ts'

/** What the routes about an endpoint work with. */
export interface EndpointDependencies extends RouteDependencies {
  /** Starts an endpoint's workflow, without waiting; if that fails, the comparison does. */
  startEndpoint: (partnerId: number) => void
  /** What an endpoint's workflow does for its partner. Both reject while Temporal is away. */
  endpointRequests: {
    certify: (partnerId: number) => Promise<void>
    /** Sends a test request and waits for the answer; one that is under way is joined. */
    ping: (partnerId: number) => Promise<PingOutcome>
  }
  /** Allows endpoints at loopback and private addresses. */
  allowPrivateNetwork: boolean
}

/**
 * Lets a partner change its own endpoint, in one transaction with the audit row: the caller's, or one of its own.
 *
 * @param action as the audit names it.
 * @param work gets the locked endpoint. It returns what the audit row adds, or `null` if nothing was done.
 */
export async function changeOwnEndpoint<Result extends { audit: Record<string, unknown> | null }>(
  sql: Sql,
  { partnerId, keyId }: FastifyRequest,
  action: `endpoint.${string}`,
  work: (trx: Sql, endpoint: LockedEndpoint) => Promise<Result>,
): Promise<Result> {
  return inTransaction(sql, async (trx) => {
    const result = await work(trx, await lockEndpoint(trx, partnerId))
    if (result.audit === null) return result
    const detail = { key_id: keyId, ...result.audit }
    await recordAudit(trx, auditName(keyId), { action, partnerId, detail, outcome: 'done' })
    return result
  })
}

/** @throws {ApiError} if the endpoint has no URL yet. */
export function requireUrl({ url }: LockedEndpoint): void {
  if (url === null) throw new ApiError('NO_ENDPOINT')
}
