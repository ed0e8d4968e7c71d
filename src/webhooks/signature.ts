import { Webhook } from 'standardwebhooks'

export interface Signing {
  /** The event's id: the same on every attempt, so that a receiver can drop repeats. */
  id: string
  body: string
  /** The time of this attempt; receivers refuse one more than five minutes from their own clock. */
  at: Date
  /** Every live secret (`whsec_…`), so that a rotation never breaks a receiver. At least one. */
  secrets: string[]
}

/**
 * The headers of one attempt: Standard Webhooks' three, with one `v1` signature for each secret, and
 * those of the request itself.
 *
 * @throws {Error} when there is no secret: nothing is ever sent unsigned.
 */
export function signedHeaders({ id, body, at, secrets }: Signing): Record<string, string> {
  if (secrets.length === 0) throw new Error(`webhook ${id} has no live secret to sign with`)
  return {
    'content-type': 'application/json',
    'user-agent': 'partner-referral-service-webhooks/1',
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': secrets.map((secret) => new Webhook(secret).sign(id, at, body)).join(' '),
  }
}
