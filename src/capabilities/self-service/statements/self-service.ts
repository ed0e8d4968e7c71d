import { sql as raw } from 'kysely'
import type { Environment } from '../../../core/values/environment.ts'
import {
  CHANGE_DELAY_HOURS,
  type EndpointLimit,
  endpointLimits,
  MOST_CHANGES_A_DAY,
} from '../../../core/endpoints/decisions/endpoint-change.ts'
import { DAY_MS } from '../../../core/values/durations.ts'
import { auditName } from '../../../core/audit/decisions/audit-name.ts'
import { inTransaction } from '../../../core/database/in-transaction.ts'
import { recordAudit } from '../../../core/audit/statements/audit.ts'
import { type QuotaState, spend } from '../../../core/partners/statements/quotas.ts'
import { lockEndpoint } from '../../../core/endpoints/statements/endpoint.ts'
import type { Sql } from '../../../core/database/orm.ts'

type Metered = keyof typeof endpointLimits

/** What a partner does to its endpoint itself: how the audit names it, and what it counts against. */
const actions = {
  set: { name: 'endpoint.propose', limit: 'actions' },
  notify: { name: 'endpoint.notify', limit: 'actions' },
  sink: { name: 'endpoint.propose', limit: 'actions' },
  certify: { name: 'endpoint.certify', limit: 'certifications' },
  rotate: { name: 'endpoint.rotate_secret', limit: 'actions' },
  test: { name: 'endpoint.ping', limit: 'actions' },
  pause: { name: 'endpoint.pause', limit: 'actions' },
  resume: { name: 'endpoint.resume', limit: 'actions' },
} as const satisfies Record<string, { name: string; limit: Metered }>

export type SelfServiceAction = keyof typeof actions

/** Those that lead to a change, which is announced in production. */
const changing: readonly SelfServiceAction[] = ['set', 'certify', 'rotate']

/** What an action counted against, and what is left of it. */
export interface UsedLimit extends QuotaState {
  name: EndpointLimit
}

/** Why a partner cannot do that itself. */
export class SelfServiceRefusal extends Error {
  readonly reason: 'off' | 'too_many' | 'no_endpoint' | 'no_candidate' | 'announced' | 'paused_by_staff'
  /** Of `too_many`: what there were too many of. */
  readonly limit: UsedLimit | undefined

  constructor(reason: SelfServiceRefusal['reason'], limit?: SelfServiceRefusal['limit']) {
    super(reason)
    this.reason = reason
    this.limit = limit
  }
}

/** Who acts. */
export interface SelfServiceActor {
  partnerId: number
  keyId: number
  environment: Environment
}

/** A partner's endpoint, locked. */
export type LockedEndpoint = NonNullable<Awaited<ReturnType<typeof lockEndpoint>>>

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
): Promise<Result & { used?: UsedLimit }> {
  return inTransaction(sql, async (trx) => {
    const endpoint = await lockEndpoint(trx, partnerId)
    if (endpoint === undefined) throw new Error(`partner ${partnerId} has no endpoint`)
    if (environment === 'production') {
      await requireSelfService(trx, partnerId)
      if (changing.includes(action)) await requireFewChanges(trx, endpoint.id)
    }
    const result = await work(trx, endpoint, auditName(keyId))
    if (result.audit === null) return result
    const { name, limit } = actions[action]
    const used = await useQuota(trx, partnerId, limit)
    const row = { action: name, partnerId, detail: { key_id: keyId, ...result.audit } }
    await recordAudit(trx, auditName(keyId), { ...row, outcome: 'done' })
    return { ...result, used }
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

/** Spent last: what changes nothing costs nothing. A refusal undoes the rest. */
async function useQuota(trx: Sql, partnerId: number, name: Metered): Promise<UsedLimit> {
  const { inARow, everyMinutes } = endpointLimits[name]
  const quota = { name: `endpoint ${name}`, most: inARow, everySeconds: everyMinutes * 60 }
  const { isRefused, ...state } = await spend(trx, partnerId, quota)
  if (isRefused) throw new SelfServiceRefusal('too_many', { name, ...state })
  return { name, ...state }
}

/** Each announced change is an email to partner and staff. The endpoint's lock keeps two requests from the last place. */
async function requireFewChanges(trx: Sql, endpointId: number): Promise<void> {
  const announcedAt = raw<Date>`coalesce(takes_effect_at - ${CHANGE_DELAY_HOURS} * interval '1 hour', requested_at)`
  const { count, seconds } = await trx
    .selectFrom('endpoint_changes')
    .select(raw<number>`count(*)::int`.as('count'))
    .select(
      raw<number>`ceil(extract(epoch from min(${announcedAt}) + interval '1 day' - clock_timestamp()))::int`.as(
        'seconds',
      ),
    )
    .where('endpoint_id', '=', endpointId)
    .where((eb) => eb.or([eb('takes_effect_at', 'is not', null), eb('state', '=', 'announced')]))
    .where(announcedAt, '>', raw<Date>`clock_timestamp() - interval '1 day'`)
    .executeTakeFirstOrThrow()
  if (count < MOST_CHANGES_A_DAY) return
  const state = { most: MOST_CHANGES_A_DAY, windowSeconds: DAY_MS / 1000, left: 0 }
  throw new SelfServiceRefusal('too_many', { name: 'changes', ...state, moreInSeconds: Math.max(1, seconds) })
}
