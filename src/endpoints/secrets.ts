import { defineEntity, p } from '@mikro-orm/core'
import { sql as raw } from 'kysely'
import { instant } from '../database/columns.ts'
import { nextId, type Sql } from '../database/sql.ts'
import { open, type Place, type SealAt, SealError } from '../seal.ts'

export const EndpointSecret = defineEntity({
  name: 'EndpointSecret',
  tableName: 'endpoint_secrets',
  properties: {
    id: p.integer().primary().generated('by default as identity'),
    partnerId: p.integer(),
    /** Sealed. */
    ciphertext: p.text(),
    /** When it stops signing; null for the current one. A candidate's has never signed. */
    expiresAt: instant().nullable(),
  },
})

/** Whether a row of `endpoint_secrets` signs now. */
export const isLiveSecret = raw<boolean>`(expires_at is null or expires_at > clock_timestamp())`
/** Whether it is the secret of a candidate. */
const isOfCandidate = raw<boolean>`id = (select candidate from endpoints where endpoints.partner_id = endpoint_secrets.partner_id)`

/** A row: its id, and the ciphertext. */
export type StoredSecret = readonly [id: string, ciphertext: string]

/** Where a signing secret is sealed. */
export const secretPlace = (id: number): Place => `endpoint_secrets:${id}:ciphertext`

/** Opens stored secrets, or says why one cannot be read, or that there is none. */
export function openSecrets(
  stored: readonly StoredSecret[],
  encryptionKeys: readonly Buffer[],
): { secrets: string[] } | { unreadable: string } {
  if (stored.length === 0) return { unreadable: 'the endpoint has no signing secret' }
  try {
    return { secrets: stored.map(([id, sealed]) => open(sealed, secretPlace(Number(id)), encryptionKeys)) }
  } catch (error) {
    if (error instanceof SealError) return { unreadable: error.message }
    throw error
  }
}

/** Newest first. @throws {SealError} */
async function secretsWhere(sql: Sql, which: typeof isLiveSecret, encryptionKeys: readonly Buffer[]) {
  const stored = await sql
    .selectFrom('endpoint_secrets')
    .select(['id', 'ciphertext'])
    .where(which)
    .orderBy('id', 'desc')
    .execute()
  return stored.map(({ id, ciphertext }) => open(ciphertext, secretPlace(id), encryptionKeys))
}

/** The live secrets. */
export const signingSecrets = (sql: Sql, partnerId: number, encryptionKeys: readonly Buffer[]) =>
  secretsWhere(sql, raw`partner_id = ${partnerId} and ${isLiveSecret}`, encryptionKeys)

/** The live secrets and the candidate's: those that our own receivers accept. */
export const receivedSecrets = (sql: Sql, partnerId: number, encryptionKeys: readonly Buffer[]) =>
  secretsWhere(sql, raw`partner_id = ${partnerId} and (${isLiveSecret} or ${isOfCandidate})`, encryptionKeys)

/** The signing secret that is sealed at a place, while it is the current one of its endpoint, or its candidate's. */
export async function secretAt(
  sql: Sql,
  place: string | null,
  encryptionKeys: readonly Buffer[],
): Promise<string | undefined> {
  const which = raw<boolean>`id = ${Number(place?.split(':')[1])} and (expires_at is null or ${isOfCandidate})`
  const [secret] = await secretsWhere(sql, which, encryptionKeys)
  return secret
}

/** The id of the current secret, which has no end; `undefined` before the first. */
export async function currentSecret(sql: Sql, partnerId: number): Promise<number | undefined> {
  const row = await sql
    .selectFrom('endpoint_secrets')
    .select('id')
    .where('partner_id', '=', partnerId)
    .where('expires_at', 'is', null)
    .executeTakeFirst()
  return row?.id
}

/** Stores a secret, which signs nothing before `signWith`. The caller's transaction has the endpoint locked. */
export async function addSecret(trx: Sql, partnerId: number, sealAt: SealAt): Promise<number> {
  const id = await nextId(trx, 'endpoint_secrets')
  const ciphertext = sealAt(secretPlace(id))
  const row = { id, partner_id: partnerId, ciphertext, expires_at: raw<Date>`clock_timestamp()` }
  await trx.insertInto('endpoint_secrets').values(row).execute()
  return id
}

/** Proxies refuse long headers, and each live secret adds a signature of 50 bytes. */
const MOST_LIVE = 5

/**
 * Makes a stored secret the current one. The latest few before it also sign for `overlapMs`, if they don't end sooner. The
 * caller's transaction has the endpoint locked.
 */
export async function signWith(trx: Sql, partnerId: number, secretId: number, overlapMs = 0): Promise<void> {
  await raw`
    update endpoint_secrets set expires_at = case
      when place = 1 then null
      when place <= ${MOST_LIVE} then least(expires_at, clock_timestamp() + ${overlapMs} * interval '1 millisecond')
      else clock_timestamp()
    end
    from (
      select id as ranked, row_number() over (order by id = ${secretId} desc, id desc) as place
      from endpoint_secrets where partner_id = ${partnerId} and (id = ${secretId} or ${isLiveSecret})
    ) as places where id = ranked`.execute(trx)
}
