import { createHmac, hkdfSync } from 'node:crypto'

/**
 * What is stored of an address that was mailed, so that mails to it can be counted: an HMAC under a key derived from an
 * encryption key. Without that key, nobody can tell which address it is.
 *
 * @param keys encryption keys, the current one first. While they are being replaced, others may count under an older one.
 */
export function addressHashes(address: string, keys: readonly Buffer[]): string[] {
  const mailbox = mailboxOf(address)
  return keys.map((key) => {
    const derived = Buffer.from(hkdfSync('sha256', key, '', 'addresses of onboarding mails', 32))
    return createHmac('sha256', derived).update(mailbox).digest('base64url')
  })
}

/** The same for all ways to write an address that end in one mailbox: case, `+tags`, and the dots of Gmail. */
function mailboxOf(address: string): string {
  const [local = '', domain = ''] = address.trim().toLowerCase().split('@')
  const [user = ''] = local.split('+')
  if (domain !== 'gmail.com' && domain !== 'googlemail.com') return `${user}@${domain}`
  return `${user.replaceAll('.', '')}@gmail.com`
}
