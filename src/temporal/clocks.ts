import { setTimeout as delay } from 'node:timers/promises'
import {
  type Client,
  WorkflowExecutionAlreadyStartedError,
  WorkflowFailedError,
  WorkflowNotFoundError,
} from '@temporalio/client'
import type { advance as advanceWorkflow } from '../../workflows/advance.ts'
import { clockStart, happenedSince } from '../db/leads/move-clock.ts'
import { readLeadClock } from '../db/leads/next-due.ts'
import type { Sql } from '../db/orm.ts'
import {
  type Advance,
  advanceId,
  type ClockStart,
  type ClockStop,
  dueDates,
  isBusy,
  type LeadClock,
  MOST_AHEAD_MS,
} from '../domain/lead-clock.ts'
import { DAY_MS } from '../domain/score-dates.ts'
import { TASK_QUEUE } from './names.ts'
import { isPolling } from './polling.ts'

/** How long an answer waits for the clock. */
const WAIT_MS = 10_000
const POLL_MS = 20

/** How far: so many days, or until what is due. */
export type ClockTarget = { days: number } | { to: ClockStop }

/** `advancing`: the rest goes on by itself. */
export type Advanced =
  ({ kind: 'done' | 'advancing'; clock: LeadClock } & Advance) | { kind: 'moving' | 'too_far' | 'unanswered' }

export interface Clocks {
  /** Moves a lead's clock and waits for it, ten seconds at most. `undefined` if there is no such lead. */
  advance(leadId: number, target: ClockTarget): Promise<Advanced | undefined>
  isMoving(leadId: number): Promise<boolean>
}

/** The one way in which leads' clocks are moved: sandbox only. */
export function createClocks({ client, sql }: { client: Client; sql: Sql }): Clocks {
  const handleOf = (leadId: number) => client.workflow.getHandle<typeof advanceWorkflow>(advanceId(leadId))

  async function advance(leadId: number, to: ClockTarget): Promise<Advanced | undefined> {
    const end = Date.now() + WAIT_MS
    const clock = await readQuiet(leadId, to, end)
    if (clock === undefined) return undefined
    const target = targetOf(clock, to)
    if (target === undefined) return { kind: 'done', clock, happened: [] }
    const aheadMs = target - clock.now + clock.offsetSeconds * 1000
    if (aheadMs > MOST_AHEAD_MS) return { kind: 'too_far' }
    const since = await clockStart(sql, leadId)
    try {
      await client.withDeadline(end, () => start(leadId, target, since))
    } catch (error) {
      if (error instanceof WorkflowExecutionAlreadyStartedError) return { kind: 'moving' }
      throw error
    }
    try {
      const advanced = await client.withDeadline(end, () => handleOf(leadId).result())
      const after = await readLeadClock(sql, leadId)
      return after && { kind: 'done', clock: after, ...advanced }
    } catch (error) {
      if (error instanceof WorkflowFailedError) throw error
      return unfinished(leadId, since)
    }
  }

  /** Waits, where it matters, until what is due now has happened: a retry's date is known then. */
  async function readQuiet(leadId: number, to: ClockTarget, end: number): Promise<LeadClock | undefined> {
    for (;;) {
      const clock = await readLeadClock(sql, leadId)
      const needsQuiet = 'to' in to && to.to === 'next_retry'
      if (clock === undefined || !needsQuiet || !isBusy(clock) || Date.now() > end) return clock
      await delay(POLL_MS)
    }
  }

  function start(leadId: number, target: number, since: ClockStart) {
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
  async function unfinished(leadId: number, since: ClockStart): Promise<Advanced | undefined> {
    if (!(await isPolling(client))) return { kind: 'unanswered' }
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

const dueOfStop = { next_score_update: 'score_update', next_retry: 'retry', end: 'end' } as const

/** In milliseconds of the lead's time; `undefined` if nothing of it is due ever. */
function targetOf(clock: LeadClock, target: ClockTarget): number | undefined {
  if ('days' in target) return clock.now + target.days * DAY_MS
  return dueDates(clock).find(({ what }) => what === dueOfStop[target.to])?.at
}
