import {
  type Client,
  WorkflowExecutionAlreadyStartedError,
  WorkflowFailedError,
  WorkflowNotFoundError,
} from '@temporalio/client'
import type { advance as advanceWorkflow } from '../../../../workflows/sandbox/advance.ts'
import { clockStart, happenedSince } from '../statements/move-clock.ts'
import { readLeadClock } from '../statements/next-due.ts'
import type { Sql } from '../../../core/database/orm.ts'
import { admitAdvance, endAdvance } from '../statements/sandbox-runs.ts'
import {
  type Advance,
  advanceId,
  type ClockStart,
  type ClockTarget,
  furthestOf,
  isBusy,
  type LeadClock,
  targetOf,
} from '../decisions/lead-clock.ts'
import { TASK_QUEUE } from '../../../core/temporal/names.ts'
import { isPolling } from '../../../core/temporal/polling.ts'

/** How long a response waits for the clock. */
export const WAIT_MS = 10_000

/** `advancing`: the advance continues after the response. */
export type AdvanceOutcome =
  | ({ kind: 'done' | 'advancing'; clock: LeadClock } & Advance)
  | { kind: 'moving' | 'too_far' | 'too_many' | 'unanswered' }

export interface Clocks {
  /** Moves a lead's clock and waits for it, ten seconds at most. `undefined` if there is no such lead. */
  advance(leadId: number, target: ClockTarget): Promise<AdvanceOutcome | undefined>
  isMoving(leadId: number): Promise<boolean>
}

/** The one way in which leads' clocks are moved: sandbox only. */
export function createClocks({ client, sql }: { client: Client; sql: Sql }): Clocks {
  const handleOf = (leadId: number) => client.workflow.getHandle<typeof advanceWorkflow>(advanceId(leadId))

  async function advance(leadId: number, to: ClockTarget): Promise<AdvanceOutcome | undefined> {
    const end = Date.now() + WAIT_MS
    const clock = await readLeadClock(sql, leadId)
    if (clock === undefined) return undefined
    const target = aim(clock, to)
    if (target === undefined) return { kind: 'done', clock, happened: [] }
    if (target !== 'next_retry' && target > furthestOf(clock)) return { kind: 'too_far' }
    const since = await clockStart(sql, leadId)
    const refused = await begin(leadId, target, since, end)
    if (refused !== undefined) return { kind: refused }
    try {
      const advanced = await client.withDeadline(end, () => handleOf(leadId).result())
      const after = await readLeadClock(sql, leadId)
      return after && { kind: 'done', clock: after, ...advanced }
    } catch (error) {
      if (error instanceof WorkflowFailedError) throw error
      return unfinished(leadId, since)
    }
  }

  /** Starts it in a place of its partner's, which it frees at its end. @returns why it was not started. */
  async function begin(
    leadId: number,
    target: number | 'next_retry',
    since: ClockStart,
    end: number,
  ): Promise<'moving' | 'too_many' | undefined> {
    if ((await admitAdvance(sql, leadId)) === 'too_many') return 'too_many'
    try {
      await client.withDeadline(end, () => start(leadId, target, since))
      return undefined
    } catch (error) {
      if (error instanceof WorkflowExecutionAlreadyStartedError) return 'moving'
      // one whose start was not answered, and that runs, is not counted
      await endAdvance(sql, leadId).catch(() => undefined)
      throw error
    }
  }

  function start(leadId: number, target: number | 'next_retry', since: ClockStart) {
    return client.workflow.start<typeof advanceWorkflow>('advance', {
      workflowId: advanceId(leadId),
      taskQueue: TASK_QUEUE,
      args: [leadId, target, since],
      workflowIdConflictPolicy: 'FAIL',
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      staticSummary: `The clock of lead ${leadId}`,
    })
  }

  /** It goes on by itself, unless there is no worker. */
  async function unfinished(leadId: number, since: ClockStart): Promise<AdvanceOutcome | undefined> {
    if (!(await isPolling(client).catch(() => false))) return { kind: 'unanswered' }
    const clock = await readLeadClock(sql, leadId)
    if (clock === undefined) return undefined
    const { happened } = await happenedSince(sql, leadId, since, clock.offsetSeconds)
    return { kind: 'advancing', clock, happened }
  }

  async function isMoving(leadId: number): Promise<boolean> {
    const describe = () => handleOf(leadId).describe()
    try {
      return (await client.withDeadline(Date.now() + WAIT_MS, describe)).status.name === 'RUNNING'
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return false
      throw error
    }
  }

  return { advance, isMoving }
}

/** In milliseconds of the lead's time; `undefined` if nothing of it is due ever. What is due now may make a retry due. */
function aim(clock: LeadClock, to: ClockTarget): number | 'next_retry' | undefined {
  if ('to' in to && to.to === 'next_retry' && isBusy(clock)) return 'next_retry'
  return targetOf(clock, to)
}
