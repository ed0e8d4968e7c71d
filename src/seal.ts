import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto'
import { defineEntity, p } from '@mikro-orm/core'
import { type Sql, takeLock } from './database/sql.ts'
import { Refusal } from './fail.ts'

const CIPHER = 'aes-256-gcm'
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** Where a sealed value is stored: table, row and column. */
export type Place = `${string}:${number}:${string}`

/** A text that is sealed once its place is known: rows get their ids inside transactions. */
export type SealAt = (place: Place) => string

/** A sealed value cannot be opened. The message is one line for operators, and holds no part of the value. */
export class SealError extends Refusal {}

/**
 * `text` as it is stored: `v1.<key id>.<base64url of nonce, ciphertext and tag>`, encrypted with AES-256-GCM under the first
 * of `keys` (32 bytes each). It opens only at its `place`: moved to another row or column, it counts as changed.
 */
export function seal(text: string, place: Place, keys: readonly Buffer[]): string {
  const key = keys[0]
  if (key === undefined) throw new SealError('ENCRYPTION_KEY is not set')
  const { id, secret } = prepare(key)
  const header = `v1.${id}`
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv(CIPHER, secret, nonce).setAAD(additionalData(header, place))
  const ciphertext = cipher.update(text, 'utf8')
  cipher.final()
  const sealed = Buffer.concat([nonce, ciphertext, cipher.getAuthTag()])
  return `${header}.${sealed.toString('base64url')}`
}

/**
 * The text in a value that `seal` made for `place`.
 *
 * @throws {SealError} when the value has another format, was changed or moved, or its key is not among `keys`.
 */
export function open(sealed: string, place: Place, keys: readonly Buffer[]): string {
  const { header, id, text } = partsOf(sealed)
  const key = keyWith(id, keys)
  const bytes = Buffer.from(text, 'base64url')
  try {
    const nonce = bytes.subarray(0, NONCE_BYTES)
    const decipher = createDecipheriv(CIPHER, prepare(key).secret, nonce, { authTagLength: TAG_BYTES })
    decipher.setAAD(additionalData(header, place)).setAuthTag(bytes.subarray(-TAG_BYTES))
    const opened = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES))
    // checks the tag: nothing is read of a value that was changed
    decipher.final()
    return opened.toString('utf8')
  } catch {
    throw new SealError(`a stored value under the key ${id} was changed, moved or damaged`)
  }
}

function keyWith(id: string, keys: readonly Buffer[]): Buffer {
  const key = keys.find((candidate) => keyId(candidate) === id)
  if (key !== undefined) return key
  throw new SealError(
    `ENCRYPTION_KEY lacks the key ${id}: add it after the current one, separated by a comma`,
  )
}

function partsOf(sealed: string): { header: string; id: string; text: string } {
  const [, header, id, text] = /^(v1\.([0-9a-f]{8}))\.([\w-]+)$/.exec(sealed) ?? []
  if (header !== undefined && id !== undefined && text !== undefined) return { header, id, text }
  throw new SealError('a stored value is not encrypted, or in an unknown format')
}

export function sealing(text: string, keys: readonly Buffer[]): SealAt {
  return (place) => seal(text, place, keys)
}

/** Identifies an encryption key without revealing it. */
export function keyId(key: Buffer): string {
  return prepare(key).id
}

interface PreparedKey {
  id: string
  secret: KeyObject
  /** For hashes of addresses. */
  hashSecret: KeyObject
}

const prepared = new WeakMap<Buffer, PreparedKey>()

/** Done once for each key, because it takes longer than to encrypt a value. */
function prepare(key: Buffer): PreparedKey {
  let known = prepared.get(key)
  if (known === undefined) {
    const id = createHash('sha256').update(key).digest('hex').slice(0, 8)
    const hashSecret = createSecretKey(Buffer.from(hkdfSync('sha256', key, '', 'addresses of leads', 32)))
    known = { id, secret: createSecretKey(key), hashSecret }
    prepared.set(key, known)
  }
  return known
}

function additionalData(header: string, place: Place): Buffer {
  return Buffer.from(`${header}:${place}`)
}

/**
 * What is stored of an address, so that it can be counted or found: an HMAC under a key derived from an encryption key.
 * Without that key, nobody can tell which address it is.
 */
export function addressHash(address: string, key: Buffer): string {
  return createHmac('sha256', prepare(key).hashSecret).update(mailboxOf(address)).digest('base64url')
}

/** Normalizes an address to its mailbox: without upper case, `+tags`, and the dots of Gmail. */
function mailboxOf(address: string): string {
  const [local = '', domain = ''] = address.trim().toLowerCase().split('@')
  const [user = ''] = local.split('+')
  if (domain !== 'gmail.com' && domain !== 'googlemail.com') return `${user}@${domain}`
  return `${user.replaceAll('.', '')}@gmail.com`
}

/** A key of ENCRYPTION_KEY under which values may be sealed; it isn't the key itself. */
export const EncryptionKey = defineEntity({
  name: 'EncryptionKey',
  tableName: 'encryption_keys',
  properties: {
    /** As in the values: the first eight digits of the key's SHA-256. */
    id: p.text().primary(),
  },
})

/**
 * Checks that `keys` can open all that is sealed, and notes the first as in use, before the process seals anything.
 * @returns which keys are missing and what to do, in one line; `undefined` if none is.
 */
export async function lackingKeys(sql: Sql, keys: readonly Buffer[]): Promise<string | undefined> {
  const [newest] = keys.map(keyId)
  const known = await keysInUse(sql)
  if (newest === undefined || known.includes(newest)) return remedyFor(known, keys)
  return sql.transaction().execute(async (trx) => {
    // of two processes that start with different keys, one is refused
    await takeLock(trx, 'encryption_keys')
    const remedy = remedyFor(await keysInUse(trx), keys)
    if (remedy === undefined) await noteKey(trx, newest)
    return remedy
  })
}

/** Which of the keys `inUse` are not in `keys` and what to do, in one line; `undefined` if none is missing. */
export function remedyFor(inUse: readonly string[], keys: readonly Buffer[]): string | undefined {
  const ours = keys.map(keyId)
  const lacking = inUse.filter((id) => !ours.includes(id))
  if (lacking.length === 0) return undefined
  const named = lacking.length === 1 ? `the key ${lacking[0]}` : `the keys ${lacking.join(', ')}`
  return `ENCRYPTION_KEY lacks ${named}, under which data is stored: add it after the current one, separated by a comma; if it is lost, see “A wrong key” in docs/operations.md`
}

/** Keys under which values may be sealed. */
export async function keysInUse(sql: Sql): Promise<string[]> {
  const rows = await sql.selectFrom('encryption_keys').select('id').execute()
  return rows.map(({ id }) => id).toSorted()
}

/** Notes that values are sealed under this key from now on. */
export async function noteKey(sql: Sql, id: string): Promise<void> {
  const keys = sql.insertInto('encryption_keys').values({ id })
  await keys.onConflict((conflict) => conflict.doNothing()).execute()
}

/** Lets processes start without these keys from now on. */
export async function retireKeys(sql: Sql, ids: readonly string[]): Promise<void> {
  if (ids.length > 0) await sql.deleteFrom('encryption_keys').where('id', 'in', ids).execute()
}
