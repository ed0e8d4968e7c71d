import { Webhook } from 'standardwebhooks'
import { type SignedHeaders, webhookHeaders } from './headers.ts'

export interface Signing {
  /** The event's id. Delivery is at least once: receivers drop duplicates by this id. */
  id: string
  body: string
  /** The time of this attempt; receivers reject one that differs from their clock by more than five minutes. */
  at: Date
  /** Every live secret (`whsec_…`), newest first, so that a receiver can change over during a rotation. */
  secrets: string[]
}

/**
 * The headers of one attempt, with those of Standard Webhooks: one `v1` signature for each secret. The oldest comes first:
 * it is the one that a receiver has when a rotation begins, and some verifiers refuse if only the last signature is valid.
 *
 * @throws {Error} when there is no secret: nothing is sent unsigned.
 */
export function signedHeaders({ id, body, at, secrets }: Signing): SignedHeaders {
  if (secrets.length === 0) throw new Error(`webhook ${id} has no live secret to sign with`)
  const signature = secrets
    .toReversed()
    .map((secret) => new Webhook(secret).sign(id, at, body))
    .join(' ')
  return webhookHeaders({ id, at, signature })
}
