import type { Signature } from '../decisions/attempt-outcome.ts'

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
export function webhookHeaders(signature: Signature & { id: string }): SignedHeaders {
  return {
    'content-type': 'application/json',
    'user-agent': 'partner-referral-service-webhooks/1',
    ...signatureHeaders(signature),
  }
}
