import { createHmac, createSecretKey, hkdfSync, type KeyObject } from 'node:crypto'

/**
 * What hashes of email addresses are for. Each has a key of its own, derived from an encryption key, so that a hash that is
 * kept for a day for one of them tells nothing about one that is kept for years for another.
 */
export type HashPurpose = 'addresses of onboarding mails' | 'addresses of leads'

/**
 * What is stored of an address, so that it can be counted or found: an HMAC under a key derived from an encryption key.
 * Without that key, nobody can tell which address it is.
 */
export function addressHash(address: string, purpose: HashPurpose, key: Buffer): string {
  return createHmac('sha256', derivedKey(purpose, key)).update(mailboxOf(address)).digest('base64url')
}

/** Its hash under each of `keys`, the current one first: while they are being replaced, others may use an older one. */
export function addressHashes(address: string, purpose: HashPurpose, keys: readonly Buffer[]): string[] {
  return keys.map((key) => addressHash(address, purpose, key))
}

const derived = new WeakMap<Buffer, Map<HashPurpose, KeyObject>>()

/** Derived once for each key, because that takes longer than to hash an address. */
function derivedKey(purpose: HashPurpose, key: Buffer): KeyObject {
  let known = derived.get(key)
  if (known === undefined) derived.set(key, (known = new Map<HashPurpose, KeyObject>()))
  let secret = known.get(purpose)
  if (secret === undefined) {
    secret = createSecretKey(Buffer.from(hkdfSync('sha256', key, '', purpose, 32)))
    known.set(purpose, secret)
  }
  return secret
}

/** The same for all ways to write an address that end in one mailbox: case, `+tags`, and the dots of Gmail. */
function mailboxOf(address: string): string {
  const [local = '', domain = ''] = address.trim().toLowerCase().split('@')
  const [user = ''] = local.split('+')
  if (domain !== 'gmail.com' && domain !== 'googlemail.com') return `${user}@${domain}`
  return `${user.replaceAll('.', '')}@gmail.com`
}
