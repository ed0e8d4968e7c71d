import { eachField, type OptionalField, requiredFields } from './lead-fields.ts'
import { addressHash, keyOf, open, seal } from '../seal.ts'

// Who the borrower is, is one sealed value; notes and each value of the metadata are sealed apart, so that one statement
// changes them without reading the others. The names of metadata stay readable: the limit on them is counted in SQL.

/** Who the borrower is. */
export type Borrower = Record<(typeof requiredFields)[number], string>

export function sealBorrower(leadId: number, borrower: Borrower, keys: readonly Buffer[]): string {
  const fields = eachField(requiredFields, (name) => borrower[name])
  return seal(JSON.stringify(fields), `leads:${leadId}:personal`, keys)
}

/** @throws {SealError} */
export function openBorrower(leadId: number, sealed: string, keys: readonly Buffer[]): Borrower {
  return JSON.parse(open(sealed, `leads:${leadId}:personal`, keys)) as Borrower
}

/**
 * By which a lead is found by its email address. It is under the key with which the borrower is sealed, so that whoever moves
 * one to another key moves both.
 *
 * @throws {SealError}
 */
export function hashOfBorrower(
  { email }: Pick<Borrower, 'email'>,
  sealed: string,
  keys: readonly Buffer[],
): string {
  return addressHash(email, keyOf(sealed, keys))
}

/** What leads with this address may have: one for each key. */
export const hashesOfEmail = (email: string, keys: readonly Buffer[]) =>
  keys.map((key) => addressHash(email, key))

/** Optional fields as they are stored: notes may say anything about the borrower. */
export function sealFields<Fields extends Partial<Record<OptionalField, string | null>>>(
  leadId: number,
  fields: Fields,
  keys: readonly Buffer[],
): Fields {
  return typeof fields.notes === 'string'
    ? { ...fields, notes: seal(fields.notes, `leads:${leadId}:notes`, keys) }
    : fields
}

/** @throws {SealError} */
export function openNotes(leadId: number, notes: string | null, keys: readonly Buffer[]): string | null {
  return notes === null ? null : open(notes, `leads:${leadId}:notes`, keys)
}

/** Metadata as it is stored; `null` stays, because it removes a field. */
export function sealMetadata(
  leadId: number,
  metadata: Record<string, string | null>,
  keys: readonly Buffer[],
): Record<string, string | null> {
  return eachValue(metadata, (value, name) =>
    value === null ? null : seal(value, `leads:${leadId}:metadata.${name}`, keys),
  )
}

/** @throws {SealError} */
export function openMetadata(
  leadId: number,
  metadata: Record<string, string>,
  keys: readonly Buffer[],
): Record<string, string> {
  return eachValue(metadata, (value, name) => open(value, `leads:${leadId}:metadata.${name}`, keys))
}

function eachValue<Value, Result>(
  record: Record<string, Value>,
  change: (value: Value, name: string) => Result,
): Record<string, Result> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value, name)]))
}
