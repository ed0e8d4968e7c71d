import { addressHash, open, seal } from '../seal.ts'
import type { requiredFields } from './lead-fields.ts'

/**
 * What describes the borrower, as one sealed value of the lead: whoever changes a part locks the lead, opens the value, and
 * seals it anew.
 */
export interface Borrower extends Record<(typeof requiredFields)[number], string> {
  notes: string | null
  /** The partner's fields by their names. */
  metadata: Record<string, string>
}

/**
 * The columns of a lead that describe the borrower, under the first of `keys`: sealed, and a hash by which a lead is found by
 * its email address.
 */
export function sealBorrower(leadId: number, borrower: Borrower, keys: readonly Buffer[]) {
  const personal = seal(JSON.stringify(borrower), `leads:${leadId}:personal`, keys)
  return { personal, email_hash: hashesOfEmail(borrower.email, keys)[0] ?? null }
}

/** @throws {SealError} */
export function openBorrower(leadId: number, personal: string, keys: readonly Buffer[]): Borrower {
  return JSON.parse(open(personal, `leads:${leadId}:personal`, keys)) as Borrower
}

/** What leads with this address may have: one for each key. */
export const hashesOfEmail = (email: string, keys: readonly Buffer[]) =>
  keys.map((key) => addressHash(email, key))
