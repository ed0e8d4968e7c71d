import { sql as raw } from 'kysely'
import type { Sql } from '../orm.ts'

/** The ids of the encryption keys under which live signing secrets are stored (`v1.<key id>.…`), each with its endpoints. */
export async function keysOfLiveSecrets(sql: Sql): Promise<{ keyId: string; endpoints: number }[]> {
  return sql
    .selectFrom('endpoint_secrets')
    .select([
      raw<string>`split_part(ciphertext, '.', 2)`.as('keyId'),
      raw<number>`count(distinct endpoint_id)::int`.as('endpoints'),
    ])
    .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', raw<Date>`clock_timestamp()`)]))
    .where(raw<boolean>`ciphertext ~ '^v1\\.[0-9a-f]{8}\\.'`)
    .groupBy(raw`split_part(ciphertext, '.', 2)`)
    .orderBy('keyId')
    .execute()
}
