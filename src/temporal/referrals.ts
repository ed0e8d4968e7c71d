import {
  type Client,
  isGrpcDeadlineError,
  WorkflowNotFoundError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client'
import { type MilestoneAnswer, type MilestoneRequest, milestoneUpdate } from '../../workflows/messages.ts'
import { loadReferralState, markStarted } from '../db/referral-states.ts'
import type { Sql } from '../db/orm.ts'
import type { ReferralState } from '../domain/referral.ts'
import { referralId, TASK_QUEUE } from './names.ts'

export type { MilestoneAnswer } from '../../workflows/messages.ts'

/** How long a call may take while Temporal is away: the record keeps what is to be done. */
const CALL_LIMIT_MS = 10_000

const DETAILS = `One borrower’s journey, from the referral until 30 days after mortgage_ready. *Current Details* says where it
stands; the record itself is in PostgreSQL.`

export interface Referrals {
  /** Starts the lead's workflow unless it runs, and says so in the record. */
  start(state: ReferralState): Promise<void>
  /** Starts it from the record. False when there is no such lead. */
  startFromRecord(leadId: number): Promise<boolean>
  /** Sends a signal, after starting the workflow if it does not run. False when there is no such lead. */
  signal(leadId: number, name: string, argument?: unknown): Promise<boolean>
  /**
   * Sends a milestone and answers what became of it. While no worker answers it is left as a signal, which
   * counts once together with the request: `undefined`. A repeating milestone needs an id for that.
   */
  record(leadId: number, request: MilestoneRequest): Promise<MilestoneAnswer | undefined>
}

interface Dependencies {
  client: Client
  sql: Sql
  callLimitMs?: number
}

/** The one way in which leads' workflows are started and spoken to. */
export function createReferrals({ client, sql, callLimitMs = CALL_LIMIT_MS }: Dependencies): Referrals {
  async function start(state: ReferralState): Promise<void> {
    await client.withDeadline(Date.now() + callLimitMs, () =>
      client.workflow.start('referral', {
        workflowId: referralId(state.leadId),
        taskQueue: TASK_QUEUE,
        args: [state],
        workflowIdConflictPolicy: 'USE_EXISTING',
        workflowIdReusePolicy: 'ALLOW_DUPLICATE',
        staticSummary: `Lead ${state.leadId} of partner ${state.partnerId}`,
        staticDetails: DETAILS,
      }),
    )
    await markStarted(sql, state.leadId)
  }

  async function startFromRecord(leadId: number): Promise<boolean> {
    const state = await loadReferralState(sql, leadId)
    if (state !== undefined) await start(state)
    return state !== undefined
  }

  /** `send`, once more after starting the workflow if it does not run. False when there is no such lead. */
  async function reach(leadId: number, send: () => Promise<void>): Promise<boolean> {
    const limited = () => client.withDeadline(Date.now() + callLimitMs, send)
    try {
      await limited()
      return true
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError)) throw error
    }
    if (!(await startFromRecord(leadId))) return false
    await limited()
    return true
  }

  async function signal(leadId: number, name: string, argument?: unknown): Promise<boolean> {
    const args = argument === undefined ? [] : [argument]
    return reach(leadId, () => client.workflow.getHandle(referralId(leadId)).signal(name, ...args))
  }

  async function record(leadId: number, request: MilestoneRequest): Promise<MilestoneAnswer | undefined> {
    let answer: MilestoneAnswer | undefined
    try {
      await reach(leadId, async () => {
        const handle = client.workflow.getHandle(referralId(leadId))
        answer = await handle.executeUpdate(milestoneUpdate, { args: [request] })
      })
    } catch (error) {
      if (!isUnanswered(error)) throw error
      const { name, ...argument } = request
      await signal(leadId, name, argument)
    }
    return answer
  }

  return { start, startFromRecord, signal, record }
}

/** The server keeps a signal for a worker to come; an update it does not. */
function isUnanswered(error: unknown): boolean {
  return error instanceof WorkflowUpdateRPCTimeoutOrCancelledError || isGrpcDeadlineError(error)
}
