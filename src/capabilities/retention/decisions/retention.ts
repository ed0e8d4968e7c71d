/** What is deleted when it is old, by its kind. The audit is none: it is never deleted. */
export const retentionClasses = [
  'leads',
  'attempts',
  'idempotency_keys',
  'notices',
  'pings',
  // before the changes that they belong to
  'certifications',
  'changes',
  'secrets',
  'reads',
] as const
export type RetentionClass = (typeof retentionClasses)[number]

export const retentionMeanings: Record<RetentionClass, string> = {
  leads: 'leads that ended: erased as staff would, unless held',
  attempts: 'what endpoints answered to webhooks: headers and bodies are emptied',
  idempotency_keys: 'Idempotency-Keys of create-lead, with the stored answers: deleted',
  notices: 'emails about endpoints that are sent: deleted, but for the latest of each kind',
  pings: 'test requests to endpoints: deleted, but for the latest of each endpoint',
  certifications: 'certifications of endpoints: deleted, but for the latest of each endpoint',
  changes: 'settled changes of endpoints, with their sealed secrets: deleted',
  secrets: 'signing secrets that have expired: deleted',
  reads: 'who read whose personal data: deleted; for a year at least it is kept',
}

/** How old each may become, in days; `null` keeps it forever. */
export type RetentionDays = Record<RetentionClass, number | null>

/** For as long as partners are promised that a repeat gets the stored answer. */
const IDEMPOTENCY_KEY_DAYS = 1

/** The settings, by class. */
export function retentionDays(settings: {
  RETENTION_LEADS_DAYS: number | null
  RETENTION_ATTEMPTS_DAYS: number | null
  RETENTION_NOTICES_DAYS: number | null
  RETENTION_ENDPOINTS_DAYS: number | null
  RETENTION_READS_DAYS: number | null
}): RetentionDays {
  return {
    leads: settings.RETENTION_LEADS_DAYS,
    attempts: settings.RETENTION_ATTEMPTS_DAYS,
    idempotency_keys: IDEMPOTENCY_KEY_DAYS,
    notices: settings.RETENTION_NOTICES_DAYS,
    pings: settings.RETENTION_ENDPOINTS_DAYS,
    certifications: settings.RETENTION_ENDPOINTS_DAYS,
    changes: settings.RETENTION_ENDPOINTS_DAYS,
    secrets: settings.RETENTION_ENDPOINTS_DAYS,
    reads: settings.RETENTION_READS_DAYS,
  }
}

/** Why retention stopped: PostgreSQL's clock is wrong, or more leads would be erased than may be in a day. */
export const retentionBrakes = ['clock', 'ceiling'] as const
export type RetentionBrake = (typeof retentionBrakes)[number]

/** Also the most of a small deployment, where a twentieth would be none. */
const ALWAYS = 10
const MOST_SHARE = 1 / 20

/**
 * How many leads retention may erase within 24 hours before staff confirm: `most`, and at most a twentieth of all `leads`.
 * In two years with the same number of leads every day, it erases a seven hundredth of them a day.
 */
export function retentionCeiling(most: number, leads: number): number {
  return Math.min(most, Math.max(ALWAYS, Math.floor(leads * MOST_SHARE)))
}

const HOUR_MS = 60 * 60 * 1000

const DAY_MS = 24 * HOUR_MS

/** How often a class is looked at. Keys expire by the hour; nobody waits for the others. */
export const retentionEveryMs = (name: RetentionClass): number =>
  name === 'idempotency_keys' ? HOUR_MS : DAY_MS
