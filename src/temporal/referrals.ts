import { type Client, WorkflowNotFoundError } from '@temporalio/client'
import { loadReferralState, markStarted } from '../db/referral-states.ts'
import type { Sql } from '../db/orm.ts'
import type { ReferralState } from '../domain/referral.ts'
import { referralId, TASK_QUEUE } from './names.ts'

/** How long a call may take while Temporal is away: the record keeps what is to be done. */
const CALL_LIMIT_MS = 10_000

export interface Referrals {
  /** Starts the lead's workflow unless it runs, and says so in the record. */
  start(state: ReferralState): Promise<void>
  /** Starts it from the record. False when there is no such lead. */
  startFromRecord(leadId: number): Promise<boolean>
  /** Sends a signal, after starting the workflow if it does not run. False when there is no such lead. */
  signal(leadId: number, name: string, argument?: unknown): Promise<boolean>
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
        staticSummary: `Lead ${state.leadId}`,
      }),
    )
    await markStarted(sql, state.leadId)
  }

  async function startFromRecord(leadId: number): Promise<boolean> {
    const state = await loadReferralState(sql, leadId)
    if (state !== undefined) await start(state)
    return state !== undefined
  }

  async function signal(leadId: number, name: string, argument?: unknown): Promise<boolean> {
    const args = argument === undefined ? [] : [argument]
    const send = () =>
      client.withDeadline(Date.now() + callLimitMs, () =>
        client.workflow.getHandle(referralId(leadId)).signal(name, ...args),
      )
    try {
      await send()
      return true
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError)) throw error
    }
    if (!(await startFromRecord(leadId))) return false
    await send()
    return true
  }

  return { start, startFromRecord, signal }
}
