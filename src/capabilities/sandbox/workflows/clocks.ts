import {
  type Client,
  WorkflowExecutionAlreadyStartedError,
  WorkflowFailedError,
  WorkflowNotFoundError,
} from '@temporalio/client'
import type { advance as advanceWorkflow } from '../../../../workflows/sandbox/advance.ts'
import type { AdvanceAnswer } from '../../../../workflows/sandbox/advancing.ts'
import { clockStart, happenedSince } from '../statements/move-clock.ts'
import { readLeadClock } from '../statements/next-due.ts'
import type { Sql } from '../../../core/database/orm.ts'
import { admitAdvance, endAdvance, forgetRun, isPassing } from '../statements/sandbox-runs.ts'
import {
  ADVANCE_UPDATE,
  type Advance,
  advanceId,
  type AdvanceRequest,
  type ClockStart,
  type ClockTarget,
  furthestOf,
  isBusy,
  type LeadClock,
  targetOf,
} from '../decisions/lead-clock.ts'
import { referralId, TASK_QUEUE } from '../../../core/temporal/names.ts'
import { isEnded } from '../../../core/temporal/ended.ts'
import { isPolling } from '../../../core/temporal/polling.ts'

/** How long a response waits for the clock. */
export const WAIT_MS = 10_000
/** How long the lead's workflow may take. */
const ASK_MS = 5000
/** Clocks are moved by whole seconds. */
const A_MOMENT_MS = 1000

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
    for (;;) {
      const begun = await begin(clock, target, since, end)
      if (begun === 'moving' || begun === 'too_many') return { kind: begun }
      if (begun === 'over') return done(leadId, since)
      try {
        const advanced = await client.withDeadline(end, () => handleOf(leadId).result())
        const after = await readLeadClock(sql, leadId)
        if (after === undefined) return undefined
        const isAnothers = begun === 'another' && advanced.stopped === undefined && !after.isClosed
        if (!isAnothers || target === 'next_retry' || after.now > target - A_MOMENT_MS)
          return { kind: 'done', clock: after, ...advanced }
        // the end of an advance before this one, which may have freed this one's place
        await endAdvance(sql, leadId)
      } catch (error) {
        // by the lead's end, or by an operator: the clock stays where it is
        if (isEnded(error)) return done(leadId, since)
        if (error instanceof WorkflowFailedError) throw error
        return unfinished(leadId, since)
      }
    }
  }

  /** Of an advance that is over without an answer of its own, as one whose webhooks were all accepted at once. */
  async function done(leadId: number, since: ClockStart): Promise<AdvanceOutcome | undefined> {
    const clock = await readLeadClock(sql, leadId)
    if (clock === undefined) return undefined
    const { happened } = await happenedSince(sql, leadId, since)
    return { kind: 'done', clock, happened }
  }

  /**
   * Begins it in a place of its partner's, which it frees at its end. The lead's workflow moves the clock as far as nothing
   * has to be waited for, and leaves the rest to a workflow of its own.
   *
   * @returns why it was not begun, or whether it is over already. `another`: one is under way that may be an earlier one.
   */
  async function begin(
    { leadId, open }: LeadClock,
    target: number | 'next_retry',
    since: ClockStart,
    end: number,
  ): Promise<'moving' | 'too_many' | 'begun' | 'another' | 'over'> {
    // what waits for a retry has to be waited for
    const mayPass = target !== 'next_retry' && (open === null || open.failures === 0)
    const place = await admitAdvance(sql, leadId, mayPass)
    if (place === 'too_many' || place === 'moving') return place
    try {
      if (place?.isPassing && target !== 'next_retry') {
        const asked = await ask(leadId, { target, since })
        if (asked !== undefined) return asked.hasArrived ? 'over' : 'begun'
      }
      await client.withDeadline(end, () => start(leadId, target, since))
      return 'begun'
    } catch (error) {
      if (error instanceof WorkflowExecutionAlreadyStartedError) {
        // by the lead's workflow, whose answer came too late, for this advance or for the one before
        if (place?.isPassing) return 'another'
        // a scenario's, or one that is ending: for the place of this one, nothing runs
        if (place?.run) await forgetRun(sql, place.run)
        return 'moving'
      }
      // one whose start was not answered, and that runs, is not counted
      await endAdvance(sql, leadId).catch(() => undefined)
      throw error
    }
  }

  /** @returns `undefined` if the lead's workflow does not do it: it is busy with something else, or does not run. */
  async function ask(leadId: number, request: AdvanceRequest): Promise<AdvanceAnswer | undefined> {
    const handle = client.workflow.getHandle(referralId(leadId))
    try {
      const asking = () =>
        handle.executeUpdate<AdvanceAnswer, [AdvanceRequest]>(ADVANCE_UPDATE, { args: [request] })
      return await client.withDeadline(Date.now() + ASK_MS, asking)
    } catch {
      // what it did of it stays: both move the clock to the same date
      return undefined
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
    const { happened } = await happenedSince(sql, leadId, since)
    return { kind: 'advancing', clock, happened }
  }

  async function isMoving(leadId: number): Promise<boolean> {
    if (await isPassing(sql, leadId)) return true
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
