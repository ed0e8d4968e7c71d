import { workflowInfo } from '@temporalio/workflow'
import type { Comparison } from '../activities/compare-with-record.ts'
import { compareWithRecord, removeOld } from './activities.ts'

// What the worker can run: two workflows, and the two that Schedules start, which are one activity each.
export { referral } from './referral.ts'
export { endpoint } from './endpoint.ts'

/**
 * Repairs workflows from the record, every five minutes. The last run's result says when all leads are compared next: once
 * a day, and at once after Temporal has lost its data.
 */
export async function comparison(): Promise<Comparison> {
  const { allAt = 0 } = (workflowInfo().lastResult ?? {}) as Partial<Comparison>
  return compareWithRecord(allAt)
}

/** Removes what is old: once a day. */
export async function retention(): Promise<Record<string, number>> {
  return removeOld()
}
