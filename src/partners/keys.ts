import { createHash, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { defineEntity, p } from '@mikro-orm/core'
import { sql as raw } from 'kysely'
import { instant } from '../database/columns.ts'
import type { Sql } from '../database/sql.ts'
import type { Environment } from '../values.ts'

export const ApiKey = defineEntity({
  name: 'ApiKey',
  tableName: 'api_keys',
  properties: {
    id: p.integer().primary().generated('by default as identity'),
    partnerId: p.integer(),
    /** SHA-256 of the whole key, in hex; the key itself is never stored. */
    hash: p.text(),
    last4: p.text(),
    createdAt: instant().defaultRaw('now()'),
    expiresAt: instant().nullable(),
    revokedAt: instant().nullable(),
    lastUsedAt: instant().nullable(),
  },
})

/** The state of a row of `api_keys`, by PostgreSQL's clock, which also sets the end of a key. */
const keyState = raw<'valid' | 'expired' | 'revoked'>`case
  when revoked_at is not null then 'revoked' when expires_at <= now() then 'expired' else 'valid' end`
export const isValidKey = raw<boolean>`${keyState} = 'valid'`

const PREFIXES: Record<Environment, string> = { sandbox: 'prs_test_', production: 'prs_live_' }
const FORMAT = /^(prs_(?:test|live)_)([0-9a-f]{64})([0-9a-f]{8})$/

const checksum = (secret: string) => crc32(secret).toString(16).padStart(8, '0')

/** What is stored of a key. A key is random, unlike a password, so SHA-256 is enough. */
export const hashOf = (key: string) => createHash('sha256').update(key).digest('hex')

/**
 * Issues a key: the environment's prefix, 256 random bits and their CRC-32, in hex. The checksum lets secret scanners
 * and this service recognize a mistyped key without a database.
 *
 * @returns `key` this once: only its hash is stored.
 */
export async function issueKey(sql: Sql, partnerId: number, environment: Environment) {
  const secret = randomBytes(32).toString('hex')
  const key = `${PREFIXES[environment]}${secret}${checksum(secret)}`
  const { id } = await sql
    .insertInto('api_keys')
    .values({ partner_id: partnerId, hash: hashOf(key), last4: key.slice(-4) })
    .returning('id')
    .executeTakeFirstOrThrow()
  return { id, key }
}

export type KeyRefusal = 'malformed' | 'wrong_environment' | 'unknown' | 'expired' | 'revoked'

/** Why `key` cannot be a key of this environment, without asking the database; `undefined` when it can. */
export function refuseKey(key: string, environment: Environment): KeyRefusal | undefined {
  const [, prefix, secret, sum] = FORMAT.exec(key) ?? []
  if (prefix === undefined || secret === undefined || checksum(secret) !== sum) return 'malformed'
  return prefix === PREFIXES[environment] ? undefined : 'wrong_environment'
}

export type KeyOwner = { keyId: number; partnerId: number } | { refusal: KeyRefusal }

/** Whose key has this hash, or why it does not work. */
export async function findKeyOwner(sql: Sql, hash: string): Promise<KeyOwner> {
  const row = await sql
    .selectFrom('api_keys')
    .select(['id', 'partner_id', keyState.as('state')])
    .where('hash', '=', hash)
    .executeTakeFirst()
  if (row === undefined) return { refusal: 'unknown' }
  if (row.state !== 'valid') return { refusal: row.state }
  return { keyId: row.id, partnerId: row.partner_id }
}

/**
 * Issues a key, and lets the partner's other valid keys expire after `overlapMs`. Runs in the caller's transaction;
 * concurrent rotations of a partner take turns.
 *
 * @returns the new key, and the ids of the keys that expire.
 */
export async function rotateKeys(sql: Sql, partnerId: number, environment: Environment, overlapMs: number) {
  await sql.selectFrom('partners').select('id').where('id', '=', partnerId).forUpdate().execute()
  const expiresAt = raw<Date>`least(expires_at, clock_timestamp() + ${overlapMs} * interval '1 millisecond')`
  const expiring = await sql
    .updateTable('api_keys')
    .set({ expires_at: expiresAt })
    .where('partner_id', '=', partnerId)
    .where(isValidKey)
    .returning('id')
    .execute()
  const issued = await issueKey(sql, partnerId, environment)
  return { ...issued, expiring: expiring.map((row) => row.id) }
}

/** Revokes a key, given its id or the key itself; `undefined` when there is none. One that is revoked keeps its date. */
export async function revokeKey(sql: Sql, key: number | string) {
  return sql
    .updateTable('api_keys')
    .set({ revoked_at: raw<Date>`coalesce(revoked_at, clock_timestamp())` })
    .where((eb) => (typeof key === 'number' ? eb('id', '=', key) : eb('hash', '=', hashOf(key))))
    .returning(['id', 'partner_id as partnerId', 'revoked_at as revokedAt'])
    .executeTakeFirst()
}

/** A partner's keys, oldest first. */
export async function listKeys(sql: Sql, partnerId: number) {
  return sql
    .selectFrom('api_keys')
    .select(['id as key_id', 'last4', 'created_at', 'expires_at', 'revoked_at', 'last_used_at'])
    .select(keyState.as('state'))
    .where('partner_id', '=', partnerId)
    .orderBy('id')
    .execute()
}
