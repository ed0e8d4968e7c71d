/**
 * Why a lead is closed, held or erased. The record and the audit keep that for good, so it is a code: free text would name
 * people. Details belong in the case that the reference names.
 */

/** Reasons to close a lead, with what each means. */
export const closeReasons = {
  withdrew: 'the borrower withdrew',
  unreachable: 'the borrower cannot be reached',
  ineligible: 'the borrower does not qualify for the service',
  financed_elsewhere: 'the borrower got a loan elsewhere',
  duplicate: 'the borrower has another lead',
  mistake: 'the lead was created by mistake',
  other: 'another reason',
} as const

/** Why the service closes one. */
export const serviceCloseReasons = {
  mortgage_ready: '30 days have passed since mortgage_ready',
  canceled: 'an operator canceled its workflow',
  erased: 'its personal data was erased',
} as const

/** Reasons to erase a lead, with what each means. */
export const erasureReasons = {
  borrower_request: 'the borrower asked for it',
  no_consent: 'the borrower does not agree to the referral',
  not_needed: 'the data is no longer needed',
  legal_obligation: 'a law or an authority requires it',
  mistake: 'the lead was created by mistake, or with wrong data',
  other: 'another reason',
} as const

/** Why a lead is held. The partner is told what each means. */
export const holdReasons = {
  litigation: 'a lawsuit is pending or expected',
  investigation: 'an authority investigates or examines',
  complaint: 'a complaint of the borrower is open',
  legal_obligation: 'a law requires that its data is kept',
  other: 'another reason',
} as const

export type CloseReason = keyof typeof closeReasons
export type AnyCloseReason = CloseReason | keyof typeof serviceCloseReasons
export type ErasureReason = keyof typeof erasureReasons
/** With those of the service: for retention, and for a record that was restored. */
export type AnyErasureReason = ErasureReason | 'retention' | 'restored'
export type HoldReason = keyof typeof holdReasons

const namesOf = <Name extends string>(reasons: Readonly<Record<Name, string>>) =>
  Object.keys(reasons) as Name[]

/** Each with its meaning, for the reference. */
export const meaningsOf = (reasons: Readonly<Record<string, string>>) =>
  Object.entries(reasons)
    .map(([name, meaning]) => `\`${name}\`: ${meaning}.`)
    .join(' ')

export const closeReasonNames = namesOf(closeReasons)
export const anyCloseReasonNames = namesOf({ ...closeReasons, ...serviceCloseReasons })
export const erasureReasonNames = namesOf(erasureReasons)

/** The outcome of an onboarding mail. `address_limit`: its address has had the most mails of a day. */
export type Onboarding = 'sending' | 'sent' | 'failed' | 'address_limit'

/** A case number, such as `CASE-26-118`. */
export const REFERENCE = /^[A-Z0-9-]{1,40}$/

export interface Hold {
  reason: HoldReason
  reference: string | null
}

/** `litigation, reference 26-118`. */
export function withReference(reason: string, reference: string | null): string {
  return reference === null ? reason : `${reason}, reference ${reference}`
}

/** The close reason with this name; `other` for any other text, which a history may hold. */
export function closeReasonOf(name: string): AnyCloseReason {
  return anyCloseReasonNames.find((known) => known === name) ?? 'other'
}
