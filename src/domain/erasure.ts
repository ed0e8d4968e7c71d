/** How long a partner's request waits before it is carried out, so that a mistake can be noticed; 0 in a sandbox. */
export const ERASURE_DELAY_DAYS = 7

/** Kept for good with the certificate: no character that an email address or a URL needs. */
export const ERASURE_REASON = /^[\p{L}\p{M}\p{N} .,'()-]{1,100}$/u
export const REASON_RULE = "1 to 100 letters, digits, spaces and . , ' ( ) - without personal data"

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

/** A line of the erasure journal: ids only, because it outlives what was erased. */
export interface JournalLine {
  deployment: string
  lead_id: number
  /** Of the lead's `lead_received`: after a restore, a lead of the same id may be another one. */
  event_id: string
  at: string
}

/** How an erasure stands, as its workflow reads it. */
export interface ErasureReview {
  partnerId: number
  /** Until it is to be carried out, on PostgreSQL's clock; not positive once it is. */
  dueInMs: number
  isHeld: boolean
  isErased: boolean
  /** Whether what is left was counted. */
  isChecked: boolean
  /** Whether partner and staff were told by email. */
  isTold: boolean
}

/** A number of rows for each table. */
export type RowCounts = Record<'leads' | 'idempotency_keys' | 'deliveries' | 'attempts', number>

/** What an erasure did, and how that was checked; stored as it was then. */
export interface Certificate {
  deployment: string
  erased: readonly string[]
  kept: readonly string[]
  /** Rows that were emptied, deleted (idempotency_keys) or canceled (deliveries). */
  rows: RowCounts
  /** The line of the erasure journal, by its hash; `null` where the deployment has no journal. */
  journal: { file: string; sha256: string } | null
  /** Backups from before the erasure hold the data until they are deleted. */
  backups: { retention_days: number | null; until: string | null }
  /** Absent until then. */
  checked?: { at: string; how: string; left: RowCounts }
}
