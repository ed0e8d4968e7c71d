import type { Sql } from '../../database/orm.ts'
import { open } from '../../sealing/seal.ts'
import { openSecretOf } from './changes.ts'
import { secretPlace } from './secrets.ts'

/**
 * The signing secret that is sealed at a place, if it is still to be used: it is the endpoint's, or a change that has not
 * taken effect yet will make it that. `undefined` once another one has taken its place, or the change was canceled.
 *
 * @throws {SealError}
 */
export async function secretAt(
  sql: Sql,
  place: string | null,
  encryptionKeys: readonly Buffer[],
): Promise<string | undefined> {
  const [table, id] = (place ?? '').split(':')
  return table === 'endpoint_changes'
    ? secretOfChange(sql, Number(id), encryptionKeys)
    : secretOfEndpoint(sql, Number(id), encryptionKeys)
}

async function secretOfChange(sql: Sql, id: number, encryptionKeys: readonly Buffer[]) {
  const change = await sql
    .selectFrom('endpoint_changes')
    .select(['id', 'state', 'ciphertext', 'endpoint_id'])
    .where('id', '=', id)
    .executeTakeFirst()
  if (change === undefined) return undefined
  const isOpen = change.state === 'candidate'
  if (!isOpen && change.state !== 'applied') return undefined
  const secret = openSecretOf(change, encryptionKeys)
  if (isOpen) return secret
  // the change has sealed it again, in a row of the endpoint
  const current = await sql
    .selectFrom('endpoint_secrets')
    .select(['id', 'ciphertext'])
    .where('endpoint_id', '=', change.endpoint_id)
    .where('expires_at', 'is', null)
    .execute()
  return current.some((row) => open(row.ciphertext, secretPlace(row.id), encryptionKeys) === secret)
    ? secret
    : undefined
}

async function secretOfEndpoint(sql: Sql, id: number, encryptionKeys: readonly Buffer[]) {
  const row = await sql
    .selectFrom('endpoint_secrets')
    .select('ciphertext')
    .where('id', '=', id)
    .where('expires_at', 'is', null)
    .executeTakeFirst()
  return row && open(row.ciphertext, secretPlace(id), encryptionKeys)
}
