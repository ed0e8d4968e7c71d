import { sql as raw } from 'kysely'
import { endpointTransitions } from '../decisions/endpoint.ts'
import { cancelPages, cancelRest } from '../../deliveries/statements/cancel-open.ts'
import { endCandidate } from './changes.ts'
import { oweNotice } from './notices.ts'
import { addSecret } from './secrets.ts'
import { columnsOf, columnsOfUrl } from './states.ts'
import type { Sql } from '../../database/orm.ts'
import type { SealAt } from '../../sealing/seal.ts'

/** The reason after deliveries were canceled: their leads have to be woken too. */
export const SET_FROM_NOW = endpointTransitions.setFromNow.reason

/**
 * Sets a partner's endpoint to `url`, and its signing secret to `secret` if it has none. Held webhooks are then sent
 * in order (`draining`), or, with `fromNow`, canceled: most of them beforehand, in pages, to hold no lock for long.
 *
 * @param isTold whether partner and staff get an email about it.
 */
export async function setEndpoint(
  sql: Sql,
  partnerId: number,
  {
    url,
    secret,
    fromNow = false,
    isTold = false,
  }: { url: string; secret: SealAt; fromNow?: boolean; isTold?: boolean },
): Promise<{ id: number; secretIsNew: boolean; canceled: number } | undefined> {
  const before = fromNow ? await cancelPages(sql, partnerId) : { canceled: 0, began: raw<Date>`now()` }
  return sql.transaction().execute(async (trx) => {
    const canceled = before.canceled + (fromNow ? await cancelRest(trx, partnerId) : 0)
    const endpoint = await trx
      .updateTable('endpoints')
      .set({
        ...columnsOfUrl(url),
        ...columnsOf(fromNow ? 'setFromNow' : 'set'),
        // wakeLeads recognizes canceled deliveries by it
        since: before.began,
      })
      .where('partner_id', '=', partnerId)
      .returning('id')
      .executeTakeFirst()
    if (endpoint === undefined) return undefined
    // it would take effect over what staff set
    await endCandidate(trx, endpoint.id, 'replaced')
    if (isTold) await oweNotice(trx, partnerId, 'url_changed')
    const known = await trx
      .selectFrom('endpoint_secrets')
      .select('id')
      .where('endpoint_id', '=', endpoint.id)
      .where('expires_at', 'is', null)
      .executeTakeFirst()
    if (known === undefined) await addSecret(trx, endpoint.id, secret)
    return { id: endpoint.id, secretIsNew: known === undefined, canceled }
  })
}

/** Locks a partner's endpoint, in the caller's transaction. */
export async function lockEndpoint(trx: Sql, partnerId: number) {
  return trx
    .selectFrom('endpoints')
    .select(['id', 'url', 'state', 'paused_by as pausedBy', 'failing_since as failingSince'])
    .where('partner_id', '=', partnerId)
    .forNoKeyUpdate()
    .executeTakeFirst()
}

/** A partner's endpoint and how many of its deliveries are open. */
export async function findEndpoint(sql: Sql, partnerId: number) {
  return sql
    .selectFrom('endpoints')
    .select(['id', 'url', 'state', 'reason', 'since', 'blocked_until'])
    .select(['failing_since as failingSince', 'recovered_at as recoveredAt'])
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
