import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'

const CIPHER = 'aes-256-gcm'
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** A stored secret cannot be decrypted. The message holds no part of the secret. */
export class SecretError extends Error {}

/** A new signing secret: `whsec_` and 32 random bytes in base64, the format of Standard Webhooks. */
export function generateSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`
}

/** A new signing secret, and the text under which it is stored. */
export function newSecret(keys: readonly Buffer[]): { secret: string; ciphertext: string } {
  const secret = generateSecret()
  return { secret, ciphertext: encryptSecret(secret, keys) }
}

/**
 * `secret` as text for the database: `v1.<key id>.<base64url of nonce, ciphertext and tag>`, encrypted with AES-256-GCM
 * under the first of `keys` (32 bytes each). To rotate keys, put the new one first and keep the old one after it: the
 * key id tells which key a text needs.
 */
export function encryptSecret(secret: string, keys: readonly Buffer[]): string {
  const key = keys[0]
  if (key === undefined) throw new SecretError('there is no encryption key')
  const header = `v1.${keyId(key)}`
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv(CIPHER, key, nonce).setAAD(Buffer.from(header))
  const sealed = Buffer.concat([nonce, cipher.update(secret, 'utf8'), cipher.final(), cipher.getAuthTag()])
  return `${header}.${sealed.toString('base64url')}`
}

/**
 * The secret in a text of `encryptSecret`.
 *
 * @throws {SecretError} when the text has another format, was changed, or its key is not among `keys`.
 */
export function decryptSecret(ciphertext: string, keys: readonly Buffer[]): string {
  const [, header, id, text] = /^(v1\.([0-9a-f]{8}))\.([\w-]+)$/.exec(ciphertext) ?? []
  if (header === undefined || id === undefined || text === undefined) {
    throw new SecretError('a stored secret has an unknown format')
  }
  const key = keys.find((candidate) => keyId(candidate) === id)
  if (key === undefined) throw new SecretError(`no encryption key has the id ${id}`)
  const sealed = Buffer.from(text, 'base64url')
  try {
    const decipher = createDecipheriv(CIPHER, key, sealed.subarray(0, NONCE_BYTES), {
      authTagLength: TAG_BYTES,
    })
    decipher.setAAD(Buffer.from(header)).setAuthTag(sealed.subarray(-TAG_BYTES))
    const opened = decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES))
    return Buffer.concat([opened, decipher.final()]).toString('utf8')
  } catch {
    throw new SecretError(`a stored secret under the key ${id} was changed or is damaged`)
  }
}

/** Identifies an encryption key in stored secrets without revealing it. */
export function keyId(key: Buffer): string {
  return createHash('sha256').update(key).digest('hex').slice(0, 8)
}
