import {
  type Client,
  WithStartWorkflowOperation,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client'
import { ApplicationFailure, type SignalDefinition, type UpdateDefinition } from '@temporalio/common'
import {
  closeUpdate,
  LEAD_CLOSED,
  type MilestoneAnswer,
  type MilestoneRequest,
  milestoneUpdate,
  simulateUpdate,
} from '../../workflows/messages.ts'
import type { Sql } from '../database/sql.ts'
import { isTimeUp } from '../temporal/away.ts'
import { referralId, TASK_QUEUE } from '../temporal/names.ts'
import { startAttributes } from '../temporal/search-attributes.ts'
import { loadReferralState } from './load-referral.ts'
import type { CloseReason } from './reasons.ts'
import type { ReferralState, Simulation } from './referral-state.ts'
import { isUnstarted, markStarted } from './sweep-starts.ts'

/** How long a call may take while Temporal is away: the sweep does from the record what it could not. */
const CALL_LIMIT_MS = 10_000

const DETAILS = `One borrower’s journey, from the referral until 30 days after mortgage_ready. *Current Details* says where it
stands; the record itself is in PostgreSQL.`

/** One of the workflow's own signals, or a milestone by its name. */
type LeadSignal = SignalDefinition<[unknown?]> | string

export interface Referrals {
  /** Starts the lead's workflow unless it runs, and says so in the record. */
  start(state: ReferralState): Promise<void>
  /** Starts it from the record. False when there is no such lead. */
  startFromRecord(leadId: number): Promise<boolean>
  /** Starts the workflow of a lead that never had one, from the record, unless another process has done so. */
  startFirst(leadId: number): Promise<void>
  /** Sends a signal, after starting the workflow if it does not run. False when there is no such lead. */
  signal(leadId: number, signal: LeadSignal, argument?: unknown): Promise<boolean>
  /**
   * Sends a milestone and answers what became of it. While no worker answers it is left as a signal, which
   * counts once together with the request: `undefined`. A repeating milestone needs an id for that.
   */
  record(leadId: number, request: MilestoneRequest): Promise<MilestoneAnswer | undefined>
  /**
   * Sends milestones that are recorded in their order, and starts the workflow if it does not run. While no worker
   * answers, `unanswered`: they may still come.
   */
  simulate(leadId: number, request: Simulation): Promise<MilestoneAnswer[] | 'closed' | 'unanswered'>
  /**
   * Has the workflow close the lead once what has arrived is recorded, after starting it if it does not run. While gains are
   * asked for, it is closed later: the record says whether it is. Rejects if nobody answers: it may still be closed.
   *
   * @param id of the request: repeats with the same id are one.
   */
  close(leadId: number, reason: CloseReason, id?: string): Promise<void>
  /**
   * Sends an update, and starts the workflow if it does not run. `undefined` if the lead is closed, or there is none.
   *
   * @param id counts once.
   */
  update<Answer, Args extends [unknown?]>(
    leadId: number,
    definition: UpdateDefinition<Answer, Args>,
    args: Args,
    id?: string,
  ): Promise<Answer | undefined>
}

interface Dependencies {
  client: Client
  sql: Sql
  callLimitMs?: number
}

/** The one way in which leads' workflows are started and spoken to. */
export function createReferrals({ client, sql, callLimitMs = CALL_LIMIT_MS }: Dependencies): Referrals {
  const limited = <Result>(call: () => Promise<Result>) => client.withDeadline(Date.now() + callLimitMs, call)

  const load = (leadId: number) => loadReferralState(sql, leadId)

  async function start(state: ReferralState): Promise<void> {
    await limited(() => client.workflow.start('referral', optionsOf(state)))
    await markStarted(sql, state.leadId)
  }

  async function startFromRecord(leadId: number): Promise<boolean> {
    const state = await load(leadId)
    if (state !== undefined) await start(state)
    return state !== undefined
  }

  async function startFirst(leadId: number): Promise<void> {
    if (await isUnstarted(sql, leadId)) await startFromRecord(leadId)
  }

  /** `send`, or `begin` from the record when its workflow does not run. False when there is no such lead. */
  async function reach(
    leadId: number,
    send: () => Promise<unknown>,
    begin: (state: ReferralState) => Promise<unknown>,
  ): Promise<boolean> {
    try {
      await limited(send)
      return true
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError)) throw error
    }
    const state = await load(leadId)
    if (state === undefined) return false
    await begin(state)
    return true
  }

  async function signal(leadId: number, sent: LeadSignal, argument?: unknown): Promise<boolean> {
    const name = typeof sent === 'string' ? sent : sent.name
    const signalArgs = argument === undefined ? [] : [argument]
    return reach(
      leadId,
      () => client.workflow.getHandle(referralId(leadId)).signal(name, ...signalArgs),
      async (state) => {
        const options = { ...optionsOf(state), signal: name, signalArgs }
        await limited(() => client.workflow.signalWithStart('referral', options))
        await markStarted(sql, leadId)
      },
    )
  }

  async function record(leadId: number, request: MilestoneRequest): Promise<MilestoneAnswer | undefined> {
    let answer: MilestoneAnswer | undefined
    try {
      const ask = async () => {
        const handle = client.workflow.getHandle(referralId(leadId))
        answer = await handle.executeUpdate(milestoneUpdate, { args: [request] })
      }
      await reach(leadId, ask, async (state) => {
        await start(state)
        await limited(ask)
      })
    } catch (error) {
      if (!isUnanswered(error)) throw error
      const { name, ...argument } = request
      await signal(leadId, name, argument)
    }
    return answer
  }

  async function update<Answer, Args extends [unknown?]>(
    leadId: number,
    definition: UpdateDefinition<Answer, Args>,
    args: Args,
    updateId?: string,
  ): Promise<Answer | undefined> {
    const state = await load(leadId)
    if (state === undefined || state.closing) return undefined
    const startWorkflowOperation = new WithStartWorkflowOperation('referral', optionsOf(state))
    const options = { args, startWorkflowOperation, ...(updateId !== undefined && { updateId }) }
    const answer = await limited(() => client.workflow.executeUpdateWithStart(definition, options))
    await markStarted(sql, leadId)
    return answer
  }

  async function simulate(leadId: number, request: Simulation) {
    try {
      return (await update(leadId, simulateUpdate, [request], request.key)) ?? 'closed'
    } catch (error) {
      if (isUnanswered(error)) return 'unanswered'
      if (refusalOf(error) === LEAD_CLOSED) return 'closed'
      throw error
    }
  }

  const close = (leadId: number, reason: CloseReason, id?: string) =>
    update(leadId, closeUpdate, [{ reason }], id)

  return {
    start,
    startFromRecord,
    startFirst,
    signal,
    record,
    simulate,
    close,
    update,
  }
}

/** One run at a time of each lead, however many ask for it; a closed one may come back. */
function optionsOf(state: ReferralState) {
  return {
    workflowId: referralId(state.leadId),
    taskQueue: TASK_QUEUE,
    args: [state] as [ReferralState],
    workflowIdConflictPolicy: 'USE_EXISTING' as const,
    workflowIdReusePolicy: 'ALLOW_DUPLICATE' as const,
    staticSummary: `Lead ${state.leadId} of partner ${state.partnerId}`,
    staticDetails: DETAILS,
    // kept by the workflow’s further runs, and shown in the Web UI
    ...(state.requestId !== undefined && { memo: { request_id: state.requestId } }),
    typedSearchAttributes: startAttributes(state),
    priority: { fairnessKey: `partner-${state.partnerId}` },
  }
}

/** The server keeps a signal for a worker to come; an update it does not. */
export function isUnanswered(error: unknown): boolean {
  return error instanceof WorkflowUpdateRPCTimeoutOrCancelledError || isTimeUp(error)
}

/** The type of the failure with which the workflow refused an update; `undefined` of any other error. */
export function refusalOf(error: unknown): string | undefined {
  const cause = error instanceof WorkflowUpdateFailedError ? error.cause : undefined
  return cause instanceof ApplicationFailure ? (cause.type ?? undefined) : undefined
}

/** Workflow starts at a time, of each API process and of the sweep. A sandbox often shares its processors with Temporal. */
export const STARTS_IN_FLIGHT = { sandbox: 1, production: 8 }

/**
 * Starts workflows right after create-lead's commit, not awaited by its answer. One beyond `limit` at a
 * time is left to the worker's sweep, so that a Temporal that is slow or away costs the API nothing.
 */
export function boundedStarts(
  referrals: Referrals,
  limit: number,
  onFailure: (error: unknown, leadId: number) => void,
) {
  const inFlight = new Set<Promise<void>>()
  return {
    offer(state: ReferralState): void {
      if (inFlight.size >= limit) return
      const starting = referrals
        .start(state)
        .catch((error: unknown) => onFailure(error, state.leadId))
        .finally(() => inFlight.delete(starting))
      inFlight.add(starting)
    },
    async settled(): Promise<void> {
      await Promise.all(inFlight)
    },
  }
}
