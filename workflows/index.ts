import { workflowInfo } from '@temporalio/workflow'
import type { Comparison } from '../activities/compare-with-record.ts'
import { compareWithRecord, removeOld } from './activities.ts'

// What the worker can run: two workflows, and the two that Schedules start, which are one activity each.
export { referral } from './referral.ts'
export { endpoint } from './endpoint.ts'

/**
 * Brings what runs in Temporal to what the record says: every five minutes. From the last run it knows when all leads
 * are to be compared, which is once a day; after Temporal has lost its data, that is now.
 */
export async function comparison(): Promise<Comparison> {
  const { allAt = 0 } = (workflowInfo().lastResult ?? {}) as Partial<Comparison>
  return compareWithRecord(allAt)
}

/** Removes what is old: once a day. */
export async function retention(): Promise<Record<string, number>> {
  return removeOld()
}
