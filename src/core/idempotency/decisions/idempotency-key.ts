/** A key under which the same request or signal counts once: 1 to 255 visible ASCII characters. */
export const IDEMPOTENCY_KEY = /^[\x21-\x7e]{1,255}$/

/** The calls whose answers are remembered by their keys. */
export const keyedCalls = ['create-lead', 'set-endpoint', 'rotate-endpoint-secret', 'erase-lead'] as const
export type KeyedCall = (typeof keyedCalls)[number]

/**
 * A key as it is stored: each call has keys of its own. No key has a space in it. Those of create-lead are stored as they
 * are, because they were the first.
 */
export const storedKey = (call: KeyedCall, key: string) => (call === 'create-lead' ? key : `${call} ${key}`)
