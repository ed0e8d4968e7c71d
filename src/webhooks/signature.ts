import { randomBytes } from 'node:crypto'
import { Webhook } from 'standardwebhooks'

/** What an attempt was signed with, besides its id and body. */
export interface Signature {
  at: Date
  /** `v1,…` for each secret that was live. */
  signature: string
}

/** The headers of Standard Webhooks, as they are sent and as they are shown later. */
export const signatureHeaders = ({ id, at, signature }: Signature & { id: string }) => ({
  'webhook-id': id,
  'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
  'webhook-signature': signature,
})

interface Signing {
  /** The event's id. Delivery is at least once: receivers drop duplicates by this id. */
  id: string
  body: string
  /** The time of this attempt; receivers reject one that differs from their clock by more than five minutes. */
  at: Date
  /** Every live secret (`whsec_…`), newest first, so that a receiver can change over during a rotation. */
  secrets: string[]
}

/**
 * All headers of one attempt, with a signature for each secret. The oldest comes first: it is the one that a receiver has
 * when a rotation begins, and some verifiers refuse if only the last signature is valid.
 *
 * @throws {Error} when there is no secret: nothing is sent unsigned.
 */
export function signedHeaders({ id, body, at, secrets }: Signing) {
  if (secrets.length === 0) throw new Error(`webhook ${id} has no live secret to sign with`)
  const signatures = secrets.toReversed().map((secret) => new Webhook(secret).sign(id, at, body))
  return {
    'content-type': 'application/json',
    'user-agent': 'partner-referral-service-webhooks/1',
    ...signatureHeaders({ id, at, signature: signatures.join(' ') }),
  }
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
export const generateSecret = () => `whsec_${randomBytes(32).toString('base64')}`
