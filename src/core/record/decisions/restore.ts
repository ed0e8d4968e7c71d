import type { MilestoneName } from '../../leads/decisions/milestones.ts'

/** What began a generation of the record. */
export const restoreCauses = ['system_identifier', 'timeline', 'workflow', 'staff'] as const
export type RestoreCause = (typeof restoreCauses)[number]

/** A workflow that began this long before its lead was that of another lead of the same id, which is lost. */
export const SKEW_MS = 60_000

/** What Temporal knew of a lead and the record did not have any more. */
export interface LostMilestone {
  name: MilestoneName
  dedupeKey: string
  /** When it was recorded on the lead's clock, in milliseconds; absent if nobody knows. */
  at?: number
}
