import { randomUUID } from 'node:crypto'
import {
  type Client,
  isGrpcServiceError,
  WithStartWorkflowOperation,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client'
import { ApplicationFailure, type SignalDefinition, type UpdateDefinition } from '@temporalio/common'
import { sql as raw } from 'kysely'
import { closeUpdate, type MilestoneRequest, milestoneUpdate, wakeSignal } from '../../workflows/messages.ts'
import type { Sql } from '../database/sql.ts'
import { findDeliveries } from '../deliveries/list-deliveries.ts'
import { failureReason } from '../deliveries/outcome-decision.ts'
import { isTimeUp } from '../temporal/away.ts'
import { referralId, TASK_QUEUE } from '../temporal/names.ts'
import { attributesOf } from '../temporal/search-attributes.ts'
import { lastPeriod, leadRequest, isClosedOrErased } from './lead.ts'
import type { MilestoneName } from './milestones.ts'
import type { CloseReason } from './reasons.ts'
import type { ReferralState } from './referral-state.ts'
import { endOf } from './score-dates.ts'

/** How long a call may take: without a limit, it would wait for as long as Temporal is away. */
const CALL_LIMIT_MS = 10_000

/** gRPC’s code of an update whose run ended before it took it. */
const FAILED_PRECONDITION = 9

const DETAILS = `One borrower’s journey, from the referral until 30 days after mortgage_ready. *Current Details* says where it
stands; the record itself is in PostgreSQL.`

/** One of the workflow's own signals, or a milestone by its name. */
type LeadSignal = SignalDefinition<[unknown?]> | string

interface Dependencies {
  client: Client
  sql: Sql
  callLimitMs?: number
}

export type Referrals = ReturnType<typeof createReferrals>

/** Starts leads' workflows, and sends them signals and updates. */
export function createReferrals({ client, sql, callLimitMs = CALL_LIMIT_MS }: Dependencies) {
  const limited = <Result>(call: () => Promise<Result>) => client.withDeadline(Date.now() + callLimitMs, call)

  /** Starts the lead's workflow unless it runs, and notes that in the record. */
  async function start(state: ReferralState): Promise<void> {
    await limited(() => client.workflow.start('referral', optionsOf(state)))
    await markStarted(sql, state.leadId)
  }

  /** Starts the lead's workflow from the record. False when there is no such lead. */
  async function startFromRecord(leadId: number): Promise<boolean> {
    const state = await loadReferralState(sql, leadId)
    if (state !== undefined) await start(state)
    return state !== undefined
  }

  /** Sends a signal, and starts the workflow if it does not run. False when there is no such lead. */
  async function signal(leadId: number, sent: LeadSignal, argument?: unknown): Promise<boolean> {
    const name = typeof sent === 'string' ? sent : sent.name
    const signalArgs = argument === undefined ? [] : [argument]
    try {
      await limited(() => client.workflow.getHandle(referralId(leadId)).signal(name, ...signalArgs))
      return true
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError)) throw error
    }
    const state = await loadReferralState(sql, leadId)
    if (state === undefined) return false
    const options = { ...optionsOf(state), signal: name, signalArgs }
    await limited(() => client.workflow.signalWithStart('referral', options))
    await markStarted(sql, leadId)
    return true
  }

  /** Tells the workflow to send what is due. */
  const wake = (leadId: number) => signal(leadId, wakeSignal)

  /**
   * Sends an update, and starts the workflow if it does not run. `undefined` if the lead is closed, or there is none.
   * Rejects if no answer comes in time: a worker may still run the update.
   *
   * @param updateId updates with the same id count once.
   */
  async function update<Answer, Args extends [unknown?]>(
    leadId: number,
    definition: UpdateDefinition<Answer, Args>,
    args: Args,
    updateId: string = randomUUID(),
    tries = 5,
  ): Promise<Answer | undefined> {
    const state = await loadReferralState(sql, leadId)
    if (state === undefined || state.closing) return undefined
    const startWorkflowOperation = new WithStartWorkflowOperation('referral', optionsOf(state))
    const options = { args, startWorkflowOperation, updateId }
    try {
      const answer = await limited(() => client.workflow.executeUpdateWithStart(definition, options))
      await markStarted(sql, leadId)
      return answer
    } catch (error) {
      // its run ended while the update arrived: the next run takes it, and the same id counts once
      if (tries === 1 || !(isGrpcServiceError(error) && [FAILED_PRECONDITION].includes(error.code)))
        throw error
      return update(leadId, definition, args, updateId, tries - 1)
    }
  }

  /** Sends a milestone and answers what became of it. */
  const record = (leadId: number, request: MilestoneRequest) => update(leadId, milestoneUpdate, [request])

  /**
   * Tells the workflow to close the lead once what has arrived is recorded. While the score provider is asked, this resolves
   * before that: the record says whether the lead is closed.
   */
  const close = (leadId: number, reason: CloseReason, updateId?: string) =>
    update(leadId, closeUpdate, [{ reason }], updateId)

  return { start, startFromRecord, signal, wake, update, record, close }
}

async function markStarted(sql: Sql, leadId: number): Promise<void> {
  await sql
    .updateTable('leads')
    .set({ workflow_started_at: raw<Date>`clock_timestamp()` })
    .where('id', '=', leadId)
    .where('workflow_started_at', 'is', null)
    .execute()
}

/** At most one run of each lead at a time, however often it is started; a completed workflow may be started again. */
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
    // saves its first task an upsert
    typedSearchAttributes: attributesOf(state, 'ok'),
    priority: { fairnessKey: `partner-${state.partnerId}` },
  }
}

/** Whether nobody answered an update in time. */
export function isUnanswered(error: unknown): boolean {
  return error instanceof WorkflowUpdateRPCTimeoutOrCancelledError || isTimeUp(error)
}

/** The type of the failure with which the workflow refused an update; `undefined` of any other error. */
export function refusalOf(error: unknown): string | undefined {
  const cause = error instanceof WorkflowUpdateFailedError ? error.cause : undefined
  return cause instanceof ApplicationFailure ? (cause.type ?? undefined) : undefined
}

/** A lead's state according to the record: the input of its workflow. */
export async function loadReferralState(sql: Sql, leadId: number): Promise<ReferralState | undefined> {
  const lead = await sql
    .selectFrom('leads')
    .innerJoinLateral(
      (eb) =>
        eb
          .selectFrom('lead_events')
          .select([
            raw<string>`min(id) filter (where position = 1)`.as('firstEventId'),
            raw<MilestoneName[]>`array_agg(distinct event_name)`.as('seen'),
            raw<MilestoneName>`(array_agg(event_name order by position desc))[1]`.as('lastEvent'),
            lastPeriod.as('lastPeriod'),
            raw<Date | null>`max(created_at) filter (where event_name = 'mortgage_ready')`.as('readyAt'),
          ])
          .whereRef('lead_id', '=', 'leads.id')
          .where('position', '>', 0)
          .as('history'),
      (join) => join.onTrue(),
    )
    .select(['firstEventId', 'seen', 'lastEvent', 'lastPeriod', 'readyAt'])
    .select(['anchor_at', 'clock_offset', 'partner_id', 'last_event_at', isClosedOrErased.as('closing')])
    .select([raw<number>`next_sequence - 1`.as('last'), leadRequest.as('requestId')])
    .select(raw<boolean>`exists (select from deployment where environment = 'sandbox')`.as('isSandbox'))
    .where('leads.id', '=', leadId)
    .executeTakeFirst()
  if (lead === undefined) return undefined
  const { firstEventId, seen, lastEvent, isSandbox, last, closing } = lead
  const [open] = await findDeliveries(sql, { leadId, states: ['pending'], limit: 1 })
  return {
    leadId,
    partnerId: lead.partner_id,
    ...(lead.requestId !== null && { requestId: lead.requestId }),
    firstEventId,
    seen,
    lastEvent,
    lastEventAt: lead.last_event_at.getTime(),
    anchor: lead.anchor_at?.getTime() ?? null,
    period: (lead.lastPeriod ?? 0) + 1,
    isSandbox,
    offset: lead.clock_offset * 1000,
    next: open?.sequence ?? last + 1,
    last,
    endsAt: endOf(lead.readyAt),
    closing,
    failure: open && open.failures > 0 ? failureOf(open) : null,
  }
}

type OpenDelivery = Awaited<ReturnType<typeof findDeliveries>>[number]

function failureOf({ sequence, failures, last_status: status, last_error_code: code }: OpenDelivery) {
  return { sequence, failures, reason: failureReason(status && Number(status), code) }
}
