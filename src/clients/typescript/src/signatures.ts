import { ReferralsError } from './errors.ts'

/** Signatures of Standard Webhooks, by WebCrypto: https://www.standardwebhooks.com */

export type WebhookRefusal =
  'headers' | 'too_old' | 'too_new' | 'signature' | 'body' | 'parsed_body' | 'no_secret'

/** The request is not a genuine webhook of now: answer 400, and do nothing. */
export class WebhookVerificationError extends ReferralsError {
  /** Why, for your log. */
  readonly reason: WebhookRefusal

  constructor(reason: WebhookRefusal, message: string) {
    super(message)
    this.reason = reason
  }
}

/** @param remedy what to change, where the body was parsed. */
export const parsedBody = (remedy: string) =>
  new WebhookVerificationError(
    'parsed_body',
    `The body was parsed before its signature was checked, and its bytes are gone. ${remedy}.`,
  )

/** What is signed. */
export interface SignedRequest {
  id: string
  /** In seconds since 1970, as it is in the header. */
  timestamp: string
  body: Uint8Array
}

const PREFIX = 'whsec_'
const VERSION = 'v1'
const encoder = new TextEncoder()

/** @returns the value of `webhook-signature`. */
export async function signatureOf(request: SignedRequest, secret: string): Promise<string> {
  const signature = await crypto.subtle.sign('HMAC', await keyOf(secret, 'sign'), signedBytes(request))
  return `${VERSION},${base64(new Uint8Array(signature))}`
}

/** One valid signature of any secret is enough. WebCrypto compares in constant time. */
export async function isSigned(
  request: SignedRequest,
  signatures: string,
  secrets: readonly string[],
): Promise<boolean> {
  const bytes = signedBytes(request)
  const given = signatures.split(' ').flatMap((each) => {
    const [version, value = ''] = each.split(',', 2)
    const signature = version === VERSION ? fromBase64(value) : undefined
    return signature === undefined ? [] : [signature]
  })
  for (const secret of secrets) {
    const key = await keyOf(secret, 'verify')
    for (const signature of given) if (await crypto.subtle.verify('HMAC', key, signature, bytes)) return true
  }
  return false
}

/** @throws {TypeError} if it is none. */
export function requireSecret(secret: string): void {
  if (!secret.startsWith(PREFIX) || !fromBase64(secret.slice(PREFIX.length))?.length)
    throw new TypeError('a webhook secret must be the whsec_… that set-endpoint showed')
}

type Key = Awaited<ReturnType<typeof crypto.subtle.importKey>>

function keyOf(secret: string, use: 'sign' | 'verify'): Promise<Key> {
  const bytes = fromBase64(secret.slice(PREFIX.length)) ?? new Uint8Array()
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, [use])
}

function signedBytes({ id, timestamp, body }: SignedRequest): Uint8Array<ArrayBuffer> {
  const head = encoder.encode(`${id}.${timestamp}.`)
  const bytes = new Uint8Array(head.length + body.length)
  bytes.set(head)
  bytes.set(body, head.length)
  return bytes
}

function base64(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
  } catch {
    return undefined
  }
}
