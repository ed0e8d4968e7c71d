import { sql as raw, type UpdateObject } from 'kysely'
import type { Tables } from '../database/orm.ts'
import { inTransaction, type Sql } from '../database/sql.ts'
import type { SealAt } from '../seal.ts'
import { columnsOf, type LockedEndpoint, lockEndpoint, nextRound } from './endpoint.ts'
import { oweNotice } from './notices.ts'
import { addSecret, currentSecret, signWith } from './secrets.ts'

/** Where webhooks are to go, and the id of the secret that signs for it. */
interface Target {
  url: string
  secretId: number
}

/**
 * Switches an endpoint to a URL and its secret, keeps those before for seven days, and drops a candidate. The caller's
 * transaction has the endpoint locked.
 *
 * @param columns what else changes, such as the state.
 */
export async function switchTo(
  trx: Sql,
  endpoint: LockedEndpoint,
  { url, secretId }: Target,
  columns: UpdateObject<Tables, 'endpoints'>,
): Promise<void> {
  const current = await currentSecret(trx, endpoint.partner_id)
  if (secretId !== current) await signWith(trx, endpoint.partner_id, secretId)
  const isOther = url !== endpoint.url || secretId !== current
  const previous = {
    previous_url: endpoint.url,
    previous_secret: current ?? null,
    previous_until: raw<Date>`clock_timestamp() + interval '7 days'`,
  }
  await trx
    .updateTable('endpoints')
    .set({ candidate: null, candidate_url: null, candidate_at: null, certification: null })
    .set({ url, url_round: nextRound, round: nextRound, ...(isOther && previous), ...columns })
    .where('partner_id', '=', endpoint.partner_id)
    .execute()
}

/** Switches as a partner may: a pause by staff goes on. Partner and staff get a mail. */
export async function switchAsPartner(trx: Sql, endpoint: LockedEndpoint, target: Target): Promise<void> {
  await switchTo(trx, endpoint, target, endpoint.paused_by === 'staff' ? {} : columnsOf('endpoint_set'))
  await oweNotice(trx, endpoint.partner_id, 'url_changed')
}

interface Wanted {
  url: string
  /** For an endpoint without a secret. */
  secret: SealAt
  /** An earlier secret that signs again, in place of the current one. */
  secretId?: number | undefined
  /** Waiting webhooks were canceled just before, in the same transaction. */
  fromNow?: boolean
}

/**
 * Switches a partner's endpoint to a URL, as staff do. Held webhooks are then sent in order.
 *
 * @returns whether it had no secret until now.
 */
export async function switchAsStaff(
  sql: Sql,
  partnerId: number,
  { url, secret, secretId, fromNow = false }: Wanted,
): Promise<boolean> {
  return inTransaction(sql, async (trx) => {
    const endpoint = await lockEndpoint(trx, partnerId)
    const known = secretId ?? (await currentSecret(trx, endpoint.partner_id))
    const target = { url, secretId: known ?? (await addSecret(trx, partnerId, secret)) }
    // the transaction's start: leads whose webhooks were canceled in it are woken, too
    const columns = {
      ...columnsOf(fromNow ? 'endpoint_set_from_now' : 'endpoint_set'),
      since: raw<Date>`now()`,
    }
    await switchTo(trx, endpoint, target, columns)
    return known === undefined
  })
}
