import { sql as raw } from 'kysely'
import { endpointTransitions } from '../../domain/endpoint.ts'
import { cancelPages, cancelRest } from '../deliveries/cancel-open.ts'
import { isLiveSecret } from './secret-keys.ts'
import { columnsOf } from './states.ts'
import type { Sql } from '../orm.ts'

/** The reason after deliveries were canceled: their leads have to be woken too. */
export const SET_FROM_NOW = endpointTransitions.setFromNow.reason

/**
 * Sets a partner's endpoint to `url`, and its signing secret to `ciphertext` if it has none. Held webhooks are then sent
 * in order (`draining`), or, with `fromNow`, canceled: most of them beforehand, in pages, to hold no lock for long.
 */
export async function setEndpoint(
  sql: Sql,
  partnerId: number,
  { url, ciphertext, fromNow = false }: { url: string; ciphertext: string; fromNow?: boolean },
): Promise<{ id: number; secretIsNew: boolean; canceled: number } | undefined> {
  const before = fromNow ? await cancelPages(sql, partnerId) : { canceled: 0, began: raw<Date>`now()` }
  return sql.transaction().execute(async (trx) => {
    const canceled = before.canceled + (fromNow ? await cancelRest(trx, partnerId) : 0)
    const endpoint = await trx
      .updateTable('endpoints')
      .set({
        url,
        ...columnsOf(fromNow ? 'setFromNow' : 'set'),
        // wakeLeads recognizes canceled deliveries by it
        since: before.began,
      })
      .where('partner_id', '=', partnerId)
      .returning('id')
      .executeTakeFirst()
    if (endpoint === undefined) return undefined
    const known = await trx
      .selectFrom('endpoint_secrets')
      .select('id')
      .where('endpoint_id', '=', endpoint.id)
      .where('expires_at', 'is', null)
      .executeTakeFirst()
    if (known === undefined) await addSecret(trx, endpoint.id, ciphertext)
    return { id: endpoint.id, secretIsNew: known === undefined, canceled }
  })
}

/** Makes `ciphertext` the signing secret, in the caller's transaction. The one before it also signs for `overlapMs`. */
export async function rotateSecret(
  trx: Sql,
  partnerId: number,
  ciphertext: string,
  overlapMs: number,
): Promise<{ id: number } | undefined> {
  const endpoint = await trx
    .selectFrom('endpoints')
    .select('id')
    .where('partner_id', '=', partnerId)
    .forNoKeyUpdate()
    .executeTakeFirst()
  if (endpoint === undefined) return undefined
  await trx
    .updateTable('endpoint_secrets')
    .set({ expires_at: raw<Date>`now() + ${overlapMs} * interval '1 millisecond'` })
    .where('endpoint_id', '=', endpoint.id)
    .where('expires_at', 'is', null)
    .execute()
  await addSecret(trx, endpoint.id, ciphertext)
  return endpoint
}

/** A partner's endpoint and how many of its deliveries are open. */
export async function findEndpoint(sql: Sql, partnerId: number) {
  return sql
    .selectFrom('endpoints')
    .select(['id', 'url', 'state', 'reason', 'since', 'failing_since', 'blocked_until'])
    .select((eb) =>
      eb
        .selectFrom('deliveries')
        .select(raw<number>`count(*)::int`.as('open'))
        .whereRef('deliveries.partner_id', '=', 'endpoints.partner_id')
        .where('deliveries.state', '=', 'pending')
        .as('open_deliveries'),
    )
    .where('partner_id', '=', partnerId)
    .executeTakeFirst()
}

/** The live secrets, newest first. */
export async function liveSecrets(sql: Sql, endpointId: number) {
  return sql
    .selectFrom('endpoint_secrets')
    .select(['ciphertext', 'created_at', 'expires_at'])
    .where('endpoint_id', '=', endpointId)
    .where(isLiveSecret)
    .orderBy('id', 'desc')
    .execute()
}

async function addSecret(trx: Sql, endpointId: number, ciphertext: string): Promise<void> {
  await trx.insertInto('endpoint_secrets').values({ endpoint_id: endpointId, ciphertext }).execute()
}
