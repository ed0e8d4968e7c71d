import { sql as raw } from 'kysely'
import { openChangeStates } from '../../domain/endpoint-change.ts'
import type { Sql } from '../orm.ts'

/** Whether a row of `endpoint_secrets` signs now. */
export const isLiveSecret = raw<boolean>`(expires_at is null or expires_at > clock_timestamp())`

/** The ids of the encryption keys under which signing secrets that may sign are stored (`v1.<key id>.…`), with their endpoints. */
export async function keysOfLiveSecrets(sql: Sql): Promise<{ keyId: string; endpoints: number }[]> {
  return sql
    .selectFrom((eb) =>
      eb
        .selectFrom('endpoint_secrets')
        .select(['endpoint_id', 'ciphertext'])
        .where(isLiveSecret)
        .unionAll(
          eb
            .selectFrom('endpoint_changes')
            .select(['endpoint_id', 'ciphertext'])
            .where('state', 'in', openChangeStates),
        )
        .as('secrets'),
    )
    .select([
      raw<string>`split_part(ciphertext, '.', 2)`.as('keyId'),
      raw<number>`count(distinct endpoint_id)::int`.as('endpoints'),
    ])
    .where(raw<boolean>`ciphertext ~ '^v1\\.[0-9a-f]{8}\\.'`)
    .groupBy(raw`split_part(ciphertext, '.', 2)`)
    .orderBy('keyId')
    .execute()
}
