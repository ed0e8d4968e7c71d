import type { Sql } from '../../database/sql.ts'
import { open } from '../../sealing/seal.ts'
import { secretPlace } from './secrets.ts'

/**
 * The signing secret that is sealed at a place, if it is still to be used: it is the endpoint's, or its candidate's.
 * `undefined` once another one has taken its place, or the candidate was dropped.
 *
 * @throws {SealError}
 */
export async function secretAt(
  sql: Sql,
  place: string | null,
  encryptionKeys: readonly Buffer[],
): Promise<string | undefined> {
  const id = Number(place?.split(':')[1])
  const row = await sql
    .selectFrom('endpoint_secrets')
    .innerJoin('endpoints', 'endpoints.id', 'endpoint_id')
    .select('ciphertext')
    .where('endpoint_secrets.id', '=', id)
    .where((eb) => eb.or([eb('expires_at', 'is', null), eb('candidate', '=', id)]))
    .executeTakeFirst()
  return row && open(row.ciphertext, secretPlace(id), encryptionKeys)
}
