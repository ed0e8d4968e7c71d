import { Webhook } from 'standardwebhooks'
import type { Signature } from '../decisions/attempt-outcome.ts'

export interface Signing {
  /** The event's id. Delivery is at least once: receivers drop duplicates by this id. */
  id: string
  body: string
  /** The time of this attempt; receivers reject one that differs from their clock by more than five minutes. */
  at: Date
  /** Every live secret (`whsec_…`), so that a receiver can change over during a rotation. */
  secrets: string[]
}

/**
 * The headers of one attempt, with those of Standard Webhooks: one `v1` signature for each secret.
 *
 * @throws {Error} when there is no secret: nothing is sent unsigned.
 */
export function signedHeaders({ id, body, at, secrets }: Signing): SignedHeaders {
  if (secrets.length === 0) throw new Error(`webhook ${id} has no live secret to sign with`)
  return {
    'content-type': 'application/json',
    'user-agent': 'partner-referral-service-webhooks/1',
    ...signatureHeaders({
      id,
      at,
      signature: secrets.map((secret) => new Webhook(secret).sign(id, at, body)).join(' '),
    }),
  }
}

export interface SignatureHeaders {
  'webhook-id': string
  'webhook-timestamp': string
  'webhook-signature': string
}

interface SignedHeaders extends SignatureHeaders, Record<string, string> {}

/** The headers of Standard Webhooks, which are the same for what is sent and for what is shown of it later. */
export function signatureHeaders({ id, at, signature }: Signature & { id: string }): SignatureHeaders {
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': signature,
  }
}
