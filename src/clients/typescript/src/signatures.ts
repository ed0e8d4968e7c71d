import { ReferralsError } from './errors.ts'

/** Signatures of Standard Webhooks, by WebCrypto: https://www.standardwebhooks.com */

export type WebhookRefusal =
  'headers' | 'too_old' | 'too_new' | 'signature' | 'body' | 'parsed_body' | 'no_secret'

/** The request is not a genuine and recent webhook: answer 400, and do nothing. */
export class WebhookVerificationError extends ReferralsError {
  /** Why, for your log. */
  readonly reason: WebhookRefusal

  constructor(reason: WebhookRefusal, message: string) {
    super(message)
    this.reason = reason
  }
}

export const parsedBody = () =>
  new WebhookVerificationError(
    'parsed_body',
    'The body was parsed before its signature was checked, and its bytes are gone. With Express, put the webhook route before express.json(), or use express.raw({ type: "application/json" }) for it; in an API route of Next’s pages, export const config = { api: { bodyParser: false } }; elsewhere, read the raw body first: await request.text().',
  )

/** What is signed. */
export interface SignedRequest {
  id: string
  /** In seconds since 1970, as it is in the header. */
  timestamp: string
  body: Uint8Array
}

const PREFIX = 'whsec_'

/** @returns the value of `webhook-signature`. */
export async function signatureOf(request: SignedRequest, secret: string): Promise<string> {
  const signature = await crypto.subtle.sign('HMAC', await keyOf(secret, 'sign'), signedBytes(request))
  return `v1,${btoa(String.fromCharCode(...new Uint8Array(signature)))}`
}

/** One valid signature of any secret is enough. WebCrypto compares in constant time. */
export async function isSigned(
  request: SignedRequest,
  signatures: string,
  secrets: readonly string[],
): Promise<boolean> {
  const bytes = signedBytes(request)
  const given = signatures.split(' ').map((each) => /^v1,(.*)$/.exec(each)?.[1])
  for (const secret of secrets) {
    const key = await keyOf(secret, 'verify')
    for (const signature of given)
      if (await crypto.subtle.verify('HMAC', key, fromBase64(signature), bytes)) return true
  }
  return false
}

/** @throws {TypeError} if it is not a secret. */
export function requireSecret(secret: string): void {
  if (!secret.startsWith(PREFIX) || fromBase64(secret.slice(PREFIX.length)).length === 0)
    throw new TypeError('a webhook secret must be the whsec_… that set-endpoint showed')
}

function keyOf(secret: string, use: 'sign' | 'verify') {
  const bytes = fromBase64(secret.slice(PREFIX.length))
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, [use])
}

function signedBytes({ id, timestamp, body }: SignedRequest): Uint8Array<ArrayBuffer> {
  const head = new TextEncoder().encode(`${id}.${timestamp}.`)
  return Uint8Array.from([...head, ...body])
}

/** Empty for what is not base64. */
function fromBase64(text = ''): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
  } catch {
    return new Uint8Array()
  }
}
