import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createSecretKey,
  type KeyObject,
  randomFillSync,
} from 'node:crypto'

const CIPHER = 'aes-256-gcm'
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** Where a sealed value is stored: table, row and column. A value of `leads.metadata` has a place of its own. */
export type Place = `${string}:${number}:${string}`

/** A text that is sealed once its place is known: rows get their ids inside transactions. */
export type SealAt = (place: Place) => string

/** A sealed value cannot be opened. The message is one line for operators, and holds no part of the value. */
export class SealError extends Error {}

/**
 * `text` as it is stored: `v1.<key id>.<base64url of nonce, ciphertext and tag>`, encrypted with AES-256-GCM under the first
 * of `keys` (32 bytes each). It opens only at its `place`: moved to another row or column, it counts as changed.
 */
export function seal(text: string, place: Place, keys: readonly Buffer[]): string {
  const key = keys[0]
  if (key === undefined) throw new SealError('ENCRYPTION_KEY is not set')
  const { id, secret } = prepare(key)
  const header = `v1.${id}`
  const nonce = nextNonce()
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

/**
 * The key that a sealed value is under.
 *
 * @throws {SealError} when the value has another format, or its key is not among `keys`.
 */
export function keyOf(sealed: string, keys: readonly Buffer[]): Buffer {
  return keyWith(partsOf(sealed).id, keys)
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

const prepared = new WeakMap<Buffer, { id: string; secret: KeyObject }>()

/** Done once for each key, because it takes longer than to encrypt a value. */
function prepare(key: Buffer): { id: string; secret: KeyObject } {
  let known = prepared.get(key)
  if (known === undefined) {
    const id = createHash('sha256').update(key).digest('hex').slice(0, 8)
    known = { id, secret: createSecretKey(key) }
    prepared.set(key, known)
  }
  return known
}

const nonces = Buffer.alloc(256 * NONCE_BYTES)
let usedNonces = nonces.length

/** Random bytes, fetched for many values at once: each fetch takes a fifth of the time to encrypt one. */
function nextNonce(): Buffer {
  if (usedNonces === nonces.length) {
    randomFillSync(nonces)
    usedNonces = 0
  }
  usedNonces += NONCE_BYTES
  return nonces.subarray(usedNonces - NONCE_BYTES, usedNonces)
}

function additionalData(header: string, place: Place): Buffer {
  return Buffer.from(`${header}:${place}`)
}
