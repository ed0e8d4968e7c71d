import { sql as raw } from 'kysely'
import type { Sql } from './orm.ts'

/**
 * Points a partner's endpoint at `url` and makes `ciphertext` its signing secret if it has none yet. What
 * waited goes out in order (`draining`), or, with `fromNow`, is left out.
 */
export async function setEndpoint(
  sql: Sql,
  partnerId: number,
  { url, ciphertext, fromNow = false }: { url: string; ciphertext: string; fromNow?: boolean },
): Promise<{ id: number; secretIsNew: boolean; canceled: number } | undefined> {
  return sql.transaction().execute(async (trx) => {
    const canceled = fromNow ? await cancelOpen(trx, partnerId) : 0
    const endpoint = await trx
      .updateTable('endpoints')
      .set({
        url,
        state: 'draining',
        reason: 'endpoint_set',
        since: raw`now()`,
        failing_since: null,
        blocked_until: null,
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

/** Makes `ciphertext` the signing secret; the one before it goes on signing for `overlapMs`. */
export async function rotateSecret(
  sql: Sql,
  partnerId: number,
  ciphertext: string,
  overlapMs: number,
): Promise<{ id: number } | undefined> {
  return sql.transaction().execute(async (trx) => {
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
  })
}

async function addSecret(trx: Sql, endpointId: number, ciphertext: string): Promise<void> {
  await trx.insertInto('endpoint_secrets').values({ endpoint_id: endpointId, ciphertext }).execute()
}

async function cancelOpen(trx: Sql, partnerId: number): Promise<number> {
  const canceled = await trx
    .updateTable('deliveries')
    .set({ state: 'canceled', settled_at: raw<Date>`now()`, lease: null, leased_until: null })
    .where('partner_id', '=', partnerId)
    .where('state', '=', 'pending')
    .executeTakeFirst()
  return Number(canceled.numUpdatedRows)
}
