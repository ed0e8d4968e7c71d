import { workflowInfo } from '@temporalio/workflow'
import type { Comparison } from '../activities/compare-with-record.ts'
import { compareWithRecord, removeOld } from './activities.ts'

/**
 * Brings what runs in Temporal to what the record says: id `comparison-<time>`, every five minutes. From the last run it
 * knows when all leads are to be compared, which is once a day; after Temporal has lost its data, that is now.
 */
export async function comparison(): Promise<Comparison> {
  const { allAt = 0 } = (workflowInfo().lastResult ?? {}) as Partial<Comparison>
  return compareWithRecord(allAt)
}

/** Removes what is old: id `retention-<time>`, once a day. */
export async function retention(): Promise<Record<string, number>> {
  return removeOld()
}
