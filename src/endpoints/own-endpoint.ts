import type { FastifyRequest } from 'fastify'
import { recordAudit } from '../audit.ts'
import { inTransaction, type Sql } from '../database/sql.ts'
import type { RouteDependencies } from '../http/dependencies.ts'
import { ApiError } from '../http/errors.ts'
import { auditName, type Environment } from '../values.ts'
import type { EndpointRequests } from './endpoint-workflows.ts'
import { type LockedEndpoint, lockEndpoint } from './switch-endpoint.ts'

/** What a partner does to its endpoint itself: as the audit names it. */
const actions = {
  set: 'endpoint.propose',
  sink: 'endpoint.set',
  certify: 'endpoint.certify',
  rotate: 'endpoint.rotate_secret',
  test: 'endpoint.ping',
  pause: 'endpoint.pause',
  resume: 'endpoint.resume',
} as const

export type SelfServiceAction = keyof typeof actions

/** Why a partner cannot do that itself. */
export class SelfServiceRefusal extends Error {
  readonly reason: 'off' | 'no_endpoint' | 'no_candidate' | 'paused_by_staff'

  constructor(reason: SelfServiceRefusal['reason']) {
    super(reason)
    this.reason = reason
  }
}

/** Who acts. */
export interface SelfServiceActor {
  partnerId: number
  keyId: number
  environment: Environment
}

/**
 * Lets a partner do something to its endpoint, in one transaction with its audit row: the caller's, or one of its own.
 *
 * @param work gets the endpoint, which is locked; answers with what the audit row adds, or `null` if nothing was done.
 * @throws {SelfServiceRefusal}
 */
export async function actOnOwnEndpoint<Result extends { audit: Record<string, unknown> | null }>(
  sql: Sql,
  action: SelfServiceAction,
  { partnerId, keyId, environment }: SelfServiceActor,
  work: (trx: Sql, endpoint: LockedEndpoint, requestedBy: string) => Promise<Result>,
): Promise<Result> {
  return inTransaction(sql, async (trx) => {
    const endpoint = await lockEndpoint(trx, partnerId)
    if (endpoint === undefined) throw new Error(`partner ${partnerId} has no endpoint`)
    if (environment === 'production') await requireSelfService(trx, partnerId)
    const result = await work(trx, endpoint, auditName(keyId))
    if (result.audit === null) return result
    const row = { action: actions[action], partnerId, detail: { key_id: keyId, ...result.audit } }
    await recordAudit(trx, auditName(keyId), { ...row, outcome: 'done' })
    return result
  })
}

/** @throws {SelfServiceRefusal} if the endpoint has no URL yet. */
export function requireUrl({ url }: LockedEndpoint): void {
  if (url === null) throw new SelfServiceRefusal('no_endpoint')
}

async function requireSelfService(trx: Sql, partnerId: number): Promise<void> {
  const { self_service: isOn } = await trx
    .selectFrom('partners')
    .select('self_service')
    .where('id', '=', partnerId)
    .executeTakeFirstOrThrow()
  if (!isOn) throw new SelfServiceRefusal('off')
}

export const selfServiceOff = () => new ApiError('SELF_SERVICE_OFF')

export const actorOf = (
  { partnerId, keyId }: FastifyRequest,
  environment: Environment,
): SelfServiceActor => ({ partnerId, keyId, environment })

/** Does `work`, with what the record refuses as an error of the API. */
export async function orRefusal<Result>(work: Promise<Result>): Promise<Result> {
  return work.catch((error: unknown) => {
    if (!(error instanceof SelfServiceRefusal)) throw error
    throw new ApiError(codes[error.reason])
  })
}

const codes = {
  off: 'SELF_SERVICE_OFF',
  no_endpoint: 'NO_ENDPOINT',
  no_candidate: 'NO_CANDIDATE',
  paused_by_staff: 'PAUSED_BY_STAFF',
} as const

export interface SelfServiceDependencies {
  endpointRequests: EndpointRequests
  /** Allows endpoints at loopback and private addresses. */
  allowPrivateNetwork: boolean
  /** The addresses and networks that webhooks come from, as the deployment promises; none if it promises nothing. */
  egressAddresses: readonly string[]
}

/** Of which each route picks what it needs. */
export interface SelfServiceRouteDependencies extends RouteDependencies, SelfServiceDependencies {}
