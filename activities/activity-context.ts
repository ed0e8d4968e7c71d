import { setTimeout as delay } from 'node:timers/promises'
import { ApplicationFailure, asyncLocalStorage, heartbeat } from '@temporalio/activity'
import { ApplicationFailureCategory } from '@temporalio/common'
import { OTHER_LEAD } from '../src/leads/referral-state.ts'

/**
 * "Not yet", as a failure that Temporal retries: after `afterMs` milliseconds, or as the activity's own retry policy has
 * it. The waiting is Temporal's, so a crash or a deployment loses none of it.
 */
export function again(message: string, afterMs?: number): ApplicationFailure {
  return ApplicationFailure.create({
    message,
    type: 'Again',
    ...(afterMs !== undefined && { nextRetryDelay: Math.max(1, Math.round(afterMs)) }),
    // expected, so no error in logs and metrics
    category: ApplicationFailureCategory.BENIGN,
  })
}

const PAUSE_MS = 250

/** Repeats `write` until it succeeds, for `limitMs` at most. */
export async function retryFor<Result>(write: () => Promise<Result>, limitMs: number): Promise<Result> {
  // a clock that is set meanwhile neither ends nor lengthens it
  const end = performance.now() + limitMs
  for (;;) {
    try {
      return await write()
    } catch (error) {
      if (performance.now() >= end) throw error
      await delay(PAUSE_MS)
    }
  }
}

const INTERVAL_MS = 10_000

/** Does what may take long, with heartbeats: if the process dies, another one soon starts it again. */
export async function withHeartbeats<Result>(work: () => Promise<Result>): Promise<Result> {
  const beating = setInterval(heartbeat, INTERVAL_MS)
  try {
    return await work()
  } finally {
    clearInterval(beating)
  }
}

/** The ids of an activity's workflow, for its line in the log and the Web UI; none outside an activity. */
export function workflowFields(): { workflow_id?: string; run_id?: string } {
  const { workflowId, runId } = asyncLocalStorage.getStore()?.info.workflowExecution ?? {}
  return workflowId === undefined || runId === undefined ? {} : { workflow_id: workflowId, run_id: runId }
}

/** Milliseconds since `began`, on the monotonic clock. */
export const millisecondsSince = (began: number) => Math.round((performance.now() - began) * 10) / 10

/** The failure of an activity whose workflow's lead is not in the record. The workflow then ends. */
export const otherLead = () =>
  ApplicationFailure.nonRetryable('the record does not have this workflow’s lead', OTHER_LEAD)
