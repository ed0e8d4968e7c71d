/** How long a partner's request waits before it is carried out, so that a mistake can be noticed; 0 in a sandbox. */
export const ERASURE_DELAY_DAYS = 7
/** At least so many days are left after a person was told: the date moves if the emails went out late. */
export const ERASURE_NOTICE_DAYS = 6
/** The id of the workflow that carries an erasure out. */
export const erasureId = (leadId: number) => `erasure-${leadId}`

/** What is emptied, as the certificate names it. */
export const erasedData = [
  'first name, last name, email and phone',
  'notes, FICO range and loan officer',
  'metadata',
  'the Idempotency-Key of its create-lead, with the stored answer',
  'what endpoints answered to its webhooks: headers, bodies and addresses',
] as const

/** What is kept, as the certificate names it. */
export const keptData = [
  'lead_id, partner_id and partner_lead_id',
  'its milestones with their dates and score gains, and the webhooks made from them',
  'the audit',
] as const

/**
 * What a line of the erasure journal says of a lead: `intent`, written before the transaction that erases it commits; then
 * `erased` once that has committed, or `void` once it is known not to have.
 */
export const journalSteps = ['intent', 'erased', 'void'] as const
export type JournalStep = (typeof journalSteps)[number]

/** A line of the erasure journal: ids only, because it outlives what was erased. */
export interface JournalLine {
  step: JournalStep
  /** The id of the transaction, which may erase several leads. */
  intent: string
  deployment: string
  lead_id: number
  /** Of the lead's `lead_received`: after a restore, a lead of the same id may be another one. */
  event_id: string
  at: string
}

/** What the record knows of an intent that has no end in the journal. */
export interface IntentInRecord {
  /** Whether the lead is erased, and by which intent as its certificate says; `undefined` without the lead. */
  lead: { isErased: boolean; certified: string | null } | undefined
  /** The record noted the intent before its transaction began, and no commit has removed that note. */
  isNoted: boolean
}

/**
 * What became of an intent, whose transaction has ended. `unknown`: the record was restored from before it, and cannot say
 * whether the erasure was carried out.
 */
export function intentOutcome(
  intent: string,
  { lead, isNoted }: IntentInRecord,
): 'erased' | 'void' | 'unknown' {
  if (lead?.certified === intent) return 'erased'
  return isNoted || lead?.isErased ? 'void' : 'unknown'
}

/** How an erasure stands, as its workflow reads it. */
export interface ErasureReview {
  partnerId: number
  /** Until its date, on PostgreSQL's clock; not positive once that has come. */
  dueInMs: number
  isHeld: boolean
  isErased: boolean
  /** Whether what is left was counted. */
  isChecked: boolean
  /** It waits until a person was told by email. */
  isAnnounced: boolean
  /** Whether partner and staff were told by email. */
  isTold: boolean
}

/** A number of rows for each table. */
export type RowCounts = Record<
  'leads' | 'idempotency_keys' | 'onboarding_mails' | 'deliveries' | 'attempts',
  number
>

/** What an erasure did, and how that was checked; stored as it was then. */
export interface Certificate {
  deployment: string
  erased: readonly string[]
  kept: readonly string[]
  /** Rows that were emptied, deleted (idempotency_keys) or canceled (deliveries). */
  rows: RowCounts
  /** The line of the erasure journal, by its hash, and its intent; `null` where the deployment has no journal. */
  journal: { file: string; sha256: string; intent: string } | null
  /** Backups from before the erasure hold the data until they are deleted. */
  backups: { retention_days: number | null; until: string | null }
  /** Absent until then. */
  checked?: { at: string; how: string; left: RowCounts }
}
