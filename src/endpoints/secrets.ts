import { defineEntity, p } from '@mikro-orm/core'
import { sql as raw } from 'kysely'
import { instant } from '../database/columns.ts'
import { nextId, type Sql } from '../database/sql.ts'
import { open, type Place, type SealAt, SealError } from '../seal.ts'
import { Endpoint } from './endpoint.ts'

export const EndpointSecret = defineEntity({
  name: 'EndpointSecret',
  tableName: 'endpoint_secrets',
  properties: {
    id: p.integer().primary().generated('by default as identity'),
    endpoint: () => p.manyToOne(Endpoint).deleteRule('cascade').index(),
    /** Sealed. */
    ciphertext: p.text(),
    createdAt: instant().defaultRaw('now()'),
    /** When a rotated secret stops signing; null for the current one. */
    expiresAt: instant().nullable(),
  },
})

/** Whether a row of `endpoint_secrets` signs now. */
export const isLiveSecret = raw<boolean>`(expires_at is null or expires_at > clock_timestamp())`

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

/**
 * The live secrets, newest first.
 *
 * @throws {SealError}
 */
export async function signingSecrets(
  sql: Sql,
  endpointId: number,
  encryptionKeys: readonly Buffer[],
): Promise<string[]> {
  const stored = await sql
    .selectFrom('endpoint_secrets')
    .select(['id', 'ciphertext'])
    .where('endpoint_id', '=', endpointId)
    .where(isLiveSecret)
    .orderBy('id', 'desc')
    .execute()
  return stored.map(({ id, ciphertext }) => open(ciphertext, secretPlace(id), encryptionKeys))
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

/**
 * Of what may reach a receiver of ours: the live secrets, and that of a candidate.
 *
 * @throws {SealError}
 */
export async function receivedSecrets(
  sql: Sql,
  endpointId: number,
  encryptionKeys: readonly Buffer[],
): Promise<string[]> {
  const stored = await sql
    .selectFrom('endpoint_secrets')
    .innerJoin('endpoints', 'endpoints.id', 'endpoint_id')
    .select(['endpoint_secrets.id', 'ciphertext'])
    .where('endpoint_id', '=', endpointId)
    .where((eb) => eb.or([isLiveSecret, eb('endpoint_secrets.id', '=', eb.ref('candidate'))]))
    .execute()
  return stored.map(({ id, ciphertext }) => open(ciphertext, secretPlace(id), encryptionKeys))
}

/** The secret that signs without an end; `undefined` before the first. */
export async function currentSecret(sql: Sql, endpointId: number): Promise<number | undefined> {
  const row = await sql
    .selectFrom('endpoint_secrets')
    .select('id')
    .where('endpoint_id', '=', endpointId)
    .where('expires_at', 'is', null)
    .executeTakeFirst()
  return row?.id
}

/**
 * Stores a secret, which signs from now on, or is `unused`: it signs nothing before `signOnlyWith`. The caller's
 * transaction has the endpoint locked.
 */
export async function addSecret(
  trx: Sql,
  endpointId: number,
  sealAt: SealAt,
  use: 'signs' | 'unused',
): Promise<number> {
  const id = await nextId(trx, 'endpoint_secrets')
  await trx
    .insertInto('endpoint_secrets')
    .values({
      id,
      endpoint_id: endpointId,
      ciphertext: sealAt(secretPlace(id)),
      expires_at: use === 'signs' ? null : raw<Date>`clock_timestamp()`,
    })
    .execute()
  return id
}

/** Proxies refuse long headers, and each live secret adds a signature of 50 bytes. */
const MOST_LIVE = 5

/**
 * Makes `secret` the signing secret. The one before it also signs for `overlapMs`; of those before, the latest few to
 * the end of their overlaps. The caller's transaction has the endpoint locked.
 *
 * @returns where it is sealed.
 */
export async function rotateSecret(
  trx: Sql,
  endpointId: number,
  secret: SealAt,
  overlapMs: number,
): Promise<Place> {
  await trx
    .updateTable('endpoint_secrets')
    .set({ expires_at: raw<Date>`now() + ${overlapMs} * interval '1 millisecond'` })
    .where('endpoint_id', '=', endpointId)
    .where('expires_at', 'is', null)
    .execute()
  const id = await addSecret(trx, endpointId, secret, 'signs')
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
  return secretPlace(id)
}

/** Makes a stored secret the only one that signs. The caller's transaction has the endpoint locked. */
export async function signOnlyWith(trx: Sql, endpointId: number, secretId: number): Promise<void> {
  await trx
    .updateTable('endpoint_secrets')
    .set({ expires_at: raw<Date | null>`case when id <> ${secretId} then clock_timestamp() end` })
    .where('endpoint_id', '=', endpointId)
    .where((eb) => eb.or([isLiveSecret, eb('id', '=', secretId)]))
    .execute()
}

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
