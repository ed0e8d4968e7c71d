export const MINUTE_MS = 60 * 1000
export const HOUR_MS = 60 * MINUTE_MS
export const DAY_MS = 24 * HOUR_MS

/** A deployment is one of the two, with a database, a Temporal namespace, keys and an address of its own. */
export const environments = ['sandbox', 'production'] as const
export type Environment = (typeof environments)[number]

/** Ids are 32-bit integers. */
export const LARGEST_ID = 2 ** 31 - 1

let latestMs = 0
let countInMs = 0

/**
 * A UUIDv7. Those of one process ascend, unless the clock is set back: their time is always the clock's.
 *
 * Source: RFC 9562, section 5.7, with a counter in `rand_a`.
 */
export function newUuid(): string {
  const now = Date.now()
  countInMs = now === latestMs ? countInMs + 1 : 0
  latestMs = now
  const order = (countInMs % 4096).toString(16).padStart(3, '0')
  return `${uuidBeginning(now)}-7${order}${crypto.randomUUID().slice(18)}`
}

/** The beginning of all UUIDv7s of a moment, given in milliseconds. */
export function uuidBeginning(ms: number): string {
  const time = ms.toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}`
}

/** What the API gives each request, and answers as `X-Request-Id`: a UUID. */
export const REQUEST_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/**
 * A moment in the format of the API and of webhook bodies: `YYYY-MM-DD HH:MM:SS`, UTC, cut (not
 * rounded) to the second, so that a timestamp never lies in the future.
 *
 * Source: interface specification, section 2.
 */
export function formatTimestamp(date: Date): string {
  return date.toISOString().slice(0, 19).replace('T', ' ')
}

/** Names of partners, and of the staff who act. */
export const NAME = /^[^\p{Cc}]{1,100}$/u

/** How the audit names a key that acts. */
export const auditName = (keyId: number) => `key ${keyId}`

/** A key under which the same request or signal counts once: 1 to 255 visible ASCII characters. */
export const IDEMPOTENCY_KEY = /^[\x21-\x7e]{1,255}$/

/** The calls whose answers are remembered by their keys. */
export type KeyedCall = 'create-lead' | 'set-endpoint' | 'rotate-endpoint-secret' | 'erase-lead'
