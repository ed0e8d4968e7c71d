import { sql as raw } from 'kysely'
import { isLiveSecret } from './secret-keys.ts'
import type { Sql } from '../orm.ts'

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

/** Since when the live secrets sign and until when, newest first. */
export async function datesOfLiveSecrets(sql: Sql, endpointId: number) {
  return sql
    .selectFrom('endpoint_secrets')
    .select(['created_at', 'expires_at'])
    .where('endpoint_id', '=', endpointId)
    .where(isLiveSecret)
    .orderBy('id', 'desc')
    .execute()
}

/** The caller's transaction has the endpoint locked. */
export async function addSecret(trx: Sql, endpointId: number, ciphertext: string): Promise<void> {
  await trx.insertInto('endpoint_secrets').values({ endpoint_id: endpointId, ciphertext }).execute()
}

/** Proxies refuse long headers, and each live secret adds a signature of 50 bytes. */
const MOST_LIVE = 5

/**
 * Makes `ciphertext` the signing secret. The one before it also signs for `overlapMs`; of those before, the latest few to
 * the end of their overlaps. The caller's transaction has the endpoint locked.
 */
export async function rotateSecret(
  trx: Sql,
  endpointId: number,
  ciphertext: string,
  overlapMs: number,
): Promise<void> {
  await trx
    .updateTable('endpoint_secrets')
    .set({ expires_at: raw<Date>`now() + ${overlapMs} * interval '1 millisecond'` })
    .where('endpoint_id', '=', endpointId)
    .where('expires_at', 'is', null)
    .execute()
  await addSecret(trx, endpointId, ciphertext)
  await trx
    .updateTable('endpoint_secrets')
    .set({ expires_at: raw<Date>`clock_timestamp()` })
    .where('endpoint_id', '=', endpointId)
    .where(isLiveSecret)
    .where('id', 'not in', (eb) =>
      eb
        .selectFrom('endpoint_secrets')
        .select('id')
        .where('endpoint_id', '=', endpointId)
        .where(isLiveSecret)
        .orderBy('id', 'desc')
        .limit(MOST_LIVE),
    )
    .execute()
}

/** Makes `ciphertext` the only secret that signs. The caller's transaction has the endpoint locked. */
export async function replaceSecrets(trx: Sql, endpointId: number, ciphertext: string): Promise<void> {
  await trx
    .updateTable('endpoint_secrets')
    .set({ expires_at: raw<Date>`clock_timestamp()` })
    .where('endpoint_id', '=', endpointId)
    .where(isLiveSecret)
    .execute()
  await addSecret(trx, endpointId, ciphertext)
}
