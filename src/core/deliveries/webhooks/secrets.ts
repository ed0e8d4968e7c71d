import { randomBytes } from 'node:crypto'

/** A new signing secret: `whsec_` and 32 random bytes in base64, the format of Standard Webhooks. */
export function generateSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`
}
