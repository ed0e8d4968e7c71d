import { createHash, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { ApiKey } from './entities/api-key.ts'
import { Partner } from './entities/partner.ts'
import type { Em, Sql } from './orm.ts'

const PREFIXES = { sandbox: 'prs_test_', production: 'prs_live_' } as const
type Environment = keyof typeof PREFIXES
const FORMAT = /^(prs_(?:test|live)_)([0-9a-f]{64})([0-9a-f]{8})$/

const checksum = (secret: string) => crc32(secret).toString(16).padStart(8, '0')
const hashOf = (key: string) => createHash('sha256').update(key).digest('hex')

/**
 * A new key: prefix of the environment, 256 random bits and their CRC-32, in hex. The checksum lets secret
 * scanners, and us, tell a mistyped key from a wrong one without asking the database.
 */
function generateKey(environment: Environment): string {
  const secret = randomBytes(32).toString('hex')
  return `${PREFIXES[environment]}${secret}${checksum(secret)}`
}

/** Issues a key to a partner. `key` is shown this once: only its hash is stored. */
export async function issueKey(
  em: Em,
  partnerId: number,
  environment: Environment,
): Promise<{ id: number; key: string }> {
  const key = generateKey(environment)
  const row = em.create(ApiKey, {
    partner: em.getReference(Partner, partnerId),
    hash: hashOf(key),
    last4: key.slice(-4),
    createdAt: new Date(),
  })
  await em.flush()
  return { id: row.id, key }
}

export type KeyRefusal = 'malformed' | 'wrong_environment' | 'unknown' | 'expired' | 'revoked'

/** What can be told from the key itself: `undefined` when it may be one of this environment's. */
export function refuseKey(key: string, environment: Environment): KeyRefusal | undefined {
  const [, prefix, secret, sum] = FORMAT.exec(key) ?? []
  if (prefix === undefined || secret === undefined || checksum(secret) !== sum) return 'malformed'
  return prefix === PREFIXES[environment] ? undefined : 'wrong_environment'
}

export interface KeyOwner {
  keyId: number
  partnerId: number
}

/** Whose key it is, or why it opens nothing. SHA-256 is enough: the key is random, not a password. */
export async function findKeyOwner(sql: Sql, key: string): Promise<KeyOwner | KeyRefusal> {
  const row = await sql
    .selectFrom('api_keys')
    .select(['id', 'partner_id', 'expires_at', 'revoked_at'])
    .where('hash', '=', hashOf(key))
    .executeTakeFirst()
  if (row === undefined) return 'unknown'
  if (row.revoked_at !== null) return 'revoked'
  if (row.expires_at !== null && row.expires_at <= new Date()) return 'expired'
  return { keyId: row.id, partnerId: row.partner_id }
}

export async function touchKey(sql: Sql, keyId: number): Promise<void> {
  await sql.updateTable('api_keys').set({ last_used_at: new Date() }).where('id', '=', keyId).execute()
}
