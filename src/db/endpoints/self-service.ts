import { sql as raw } from 'kysely'
import type { Environment } from '../../domain/environment.ts'
import {
  ACTION_EVERY_MINUTES,
  ACTIONS_IN_A_ROW,
  MOST_CERTIFICATIONS_A_DAY,
  MOST_CHANGES_A_DAY,
} from '../../domain/endpoint-change.ts'
import { recordAudit } from '../audit.ts'
import { type Quota, spend } from '../quotas.ts'
import { lockEndpoint } from './endpoint.ts'
import type { Sql } from '../orm.ts'

/** What a partner does to its endpoint itself, as the audit names it. */
const actions = {
  set: 'endpoint.propose',
  certify: 'endpoint.certify',
  rotate: 'endpoint.rotate_secret',
  test: 'endpoint.ping',
  pause: 'endpoint.pause',
  resume: 'endpoint.resume',
} as const

export type SelfServiceAction = keyof typeof actions

/** Actions that count together, and how many of them a partner has within 24 hours. */
const limits: Partial<Record<SelfServiceAction, { counted: SelfServiceAction[]; most: number }>> = {
  set: { counted: ['set', 'rotate'], most: MOST_CHANGES_A_DAY },
  rotate: { counted: ['set', 'rotate'], most: MOST_CHANGES_A_DAY },
  certify: { counted: ['certify'], most: MOST_CERTIFICATIONS_A_DAY },
}

/** What is done more often than that. The audit keeps each for good. */
const quota: Quota = { name: 'endpoint', most: ACTIONS_IN_A_ROW, everySeconds: ACTION_EVERY_MINUTES * 60 }
const metered: SelfServiceAction[] = ['test', 'pause', 'resume']

/** Why a partner cannot do that itself. */
export class SelfServiceRefusal extends Error {
  readonly reason: 'off' | 'too_many' | 'no_endpoint' | 'no_candidate' | 'announced' | 'paused_by_staff'
  /** After which there may be room again. */
  readonly retryAfterSeconds: number | undefined

  constructor(reason: SelfServiceRefusal['reason'], retryAfterSeconds?: number) {
    super(reason)
    this.reason = reason
    this.retryAfterSeconds = retryAfterSeconds
  }
}

/** Who acts. */
export interface SelfServiceActor {
  partnerId: number
  keyId: number
  environment: Environment
}

/** A partner's endpoint, locked. */
type LockedEndpoint = NonNullable<Awaited<ReturnType<typeof lockEndpoint>>>

/** The audit's name of a key. */
export const auditName = (keyId: number) => `key ${keyId}`

/**
 * Lets a partner do something to its endpoint, in one transaction with its audit row.
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
  return sql.transaction().execute(async (trx) => {
    const endpoint = await lockEndpoint(trx, partnerId)
    if (endpoint === undefined) throw new Error(`partner ${partnerId} has no endpoint`)
    if (environment === 'production') await requireSelfService(trx, partnerId)
    await requireRoom(trx, action, partnerId)
    const result = await work(trx, endpoint, auditName(keyId))
    if (result.audit !== null) {
      if (metered.includes(action)) await requireQuota(trx, partnerId)
      const row = { action: actions[action], partnerId, detail: { key_id: keyId, ...result.audit } }
      await recordAudit(trx, auditName(keyId), { ...row, outcome: 'done' })
    }
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

/** Spent last: what changes nothing costs nothing. A refusal undoes the rest. */
async function requireQuota(trx: Sql, partnerId: number): Promise<void> {
  const seconds = await spend(trx, partnerId, quota)
  if (seconds !== undefined) throw new SelfServiceRefusal('too_many', seconds)
}

/** The endpoint's lock keeps two requests from taking the last place. */
async function requireRoom(trx: Sql, action: SelfServiceAction, partnerId: number): Promise<void> {
  const limit = limits[action]
  if (limit === undefined) return
  const { count, seconds } = await trx
    .selectFrom('audit')
    .select(raw<number>`count(*)::int`.as('count'))
    .select(
      raw<number>`ceil(extract(epoch from min(at) + interval '1 day' - clock_timestamp()))::int`.as(
        'seconds',
      ),
    )
    .where('partner_id', '=', partnerId)
    .where('at', '>', raw<Date>`clock_timestamp() - interval '1 day'`)
    .where(
      'action',
      'in',
      limit.counted.map((counted) => actions[counted]),
    )
    .where(raw<boolean>`detail -> 'key_id' is not null`)
    .executeTakeFirstOrThrow()
  if (count >= limit.most) throw new SelfServiceRefusal('too_many', Math.max(1, seconds))
}
