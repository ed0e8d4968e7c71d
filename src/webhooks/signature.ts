import { randomBytes } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import type { Signature } from '../deliveries/attempt-outcome.ts'

export interface SignatureHeaders {
  'webhook-id': string
  'webhook-timestamp': string
  'webhook-signature': string
}

export interface SignedHeaders extends SignatureHeaders, Record<string, string> {}

/** The headers of Standard Webhooks, which are the same for what is sent and for what is shown of it later. */
export function signatureHeaders({ id, at, signature }: Signature & { id: string }): SignatureHeaders {
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': signature,
  }
}

/** All headers of a webhook. */
function webhookHeaders(signature: Signature & { id: string }): SignedHeaders {
  return {
    'content-type': 'application/json',
    'user-agent': 'partner-referral-service-webhooks/1',
    ...signatureHeaders(signature),
  }
}

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

/** Why a webhook is not valid, as the public library says for the last of `secrets`; `undefined` if one of them signed it. */
export function problemOf(
  secrets: readonly string[],
  body: string,
  headers: Record<string, string>,
): string | undefined {
  let problem = 'there is no signing secret'
  for (const secret of secrets) {
    try {
      new Webhook(secret).verify(body, headers, { jsonParse: false })
      return undefined
    } catch (error) {
      problem = (error as Error).message
    }
  }
  return problem
}

/** A new signing secret: `whsec_` and 32 random bytes in base64, the format of Standard Webhooks. */
export function generateSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`
}
