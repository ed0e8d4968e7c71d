import {
  type Client,
  WithStartWorkflowOperation,
  WorkflowExecutionAlreadyStartedError,
} from '@temporalio/client'
import { sql as raw } from 'kysely'
import { resendUpdate, sendNowSignal, type Webhook } from '../../workflows/messages.ts'
import type { resend, Resends } from '../../workflows/resend.ts'
import type { Sql } from '../database/sql.ts'
import type { Referrals } from '../leads/referrals.ts'
import { inBatches } from '../temporal/in-flight.ts'
import { replayId, resendId, TASK_QUEUE } from '../temporal/names.ts'
import { waitsFor } from './delivery.ts'

/** What a resend needs to know of a delivery; `undefined` if there is none that can be sent. */
export async function findDelivery(sql: Sql, eventId: string) {
  return sql
    .selectFrom('deliveries')
    .innerJoin('leads', 'leads.id', 'deliveries.lead_id')
    .select(['deliveries.event_id', 'deliveries.lead_id', 'deliveries.partner_id', 'deliveries.sequence'])
    .select(['deliveries.state', waitsFor.as('waits_for')])
    .where('deliveries.event_id', '=', eventId)
    .where('deliveries.state', '<>', 'canceled')
    .where('leads.erased_at', 'is', null)
    .executeTakeFirst()
}

export type ResentDelivery = NonNullable<Awaited<ReturnType<typeof findDelivery>>>

/** What became of a resend, for partners and staff. */
export function describeResend({ waits_for: earlier }: ResentDelivery): string {
  if (earlier === null) return 'The webhook will be sent again.'
  return `The webhook waits for ${earlier.event_id} (sequence ${earlier.sequence}) of the same lead. Resend that one.`
}

/** Asks for an attempt at an open delivery now, beside its schedule: see `decideAttempt`. */
export async function requestAttempt(sql: Sql, leadId: number, sequence: number): Promise<void> {
  await sql
    .updateTable('deliveries')
    .set({ resend_requested_at: raw<Date>`clock_timestamp()` })
    .where('lead_id', '=', leadId)
    .where('sequence', '=', sequence)
    .where('state', '=', 'pending')
    .execute()
}

const CALL_LIMIT_MS = 10_000
const nothing: Resends = { delivered: 0, failed: 0, waiting: [] }

export type Resender = ReturnType<typeof createResender>

/** Has webhooks sent once more, without waiting for that. All calls reject if the workflow cannot be reached. */
export function createResender(client: Client, referrals: Pick<Referrals, 'signal'>) {
  const limited = <Result>(call: () => Promise<Result>) =>
    client.withDeadline(Date.now() + CALL_LIMIT_MS, call)

  /** Adds to the settled webhooks of a partner that wait. @returns which of them are too many. */
  async function add(partnerId: number, webhooks: Webhook[]): Promise<Webhook[]> {
    const startWorkflowOperation = new WithStartWorkflowOperation<typeof resend>('resend', {
      workflowId: resendId(partnerId),
      taskQueue: TASK_QUEUE,
      args: [partnerId, nothing],
      staticSummary: `Resends of partner ${partnerId}`,
      workflowIdConflictPolicy: 'USE_EXISTING',
    })
    const options = { args: [webhooks] as [Webhook[]], startWorkflowOperation }
    return limited(() => client.workflow.executeUpdateWithStart(resendUpdate, options))
  }
  // one update takes all that a partner asks for at a time
  const addInBatches = inBatches(add)

  return {
    add,

    /** An open one is sent by its lead's workflow, in order; a settled one by its partner's resends. */
    resend: async (delivery: ResentDelivery): Promise<'accepted' | 'too_many'> => {
      const { state, waits_for: earlier, lead_id: leadId, partner_id: partnerId, sequence } = delivery
      if (state !== 'pending') {
        const refused = await addInBatches(partnerId, { leadId, sequence })
        const isRefused = refused.some((one) => one.leadId === leadId && one.sequence === sequence)
        return isRefused ? 'too_many' : 'accepted'
      }
      // it follows the earlier one by itself
      if (earlier === null) await referrals.signal(leadId, sendNowSignal)
      return 'accepted'
    },

    /** Sends what a filter finds. @returns the workflow's id; `undefined` when a replay of this partner is under way. */
    async replay(filter: ReplayFilter, total: number): Promise<string | undefined> {
      const { partnerId } = filter
      const workflowId = replayId(partnerId)
      const resends = { ...nothing, replay: { filter, total, at: { leadId: 0, sequence: 0 } } }
      const options = {
        workflowId,
        taskQueue: TASK_QUEUE,
        args: [partnerId, resends] as Parameters<typeof resend>,
        staticSummary: `Replay of partner ${partnerId}: ${total} webhooks`,
      }
      try {
        await limited(() => client.workflow.start<typeof resend>('resend', options))
        return workflowId
      } catch (error) {
        if (error instanceof WorkflowExecutionAlreadyStartedError) return undefined
        throw error
      }
    },
  }
}

/** Which settled deliveries of a partner are sent once more; dates in ISO 8601. */
export interface ReplayFilter {
  partnerId: number
  states: ('given_up' | 'delivered')[]
  /** Events from this date on. */
  since: string | null
  /** Events before this date; events have the dates of their lead's clock. */
  until: string | null
  /** Settled before this date: what is delivered during a replay is not part of it. */
  settledBefore: string
}

const matching = ({ partnerId, states, since, until, settledBefore }: ReplayFilter) => raw`
  from leads l join deliveries d on d.lead_id = l.id join lead_events e on e.id = d.event_id
  where l.partner_id = ${partnerId} and l.erased_at is null
    and d.state = any(${states}::text[]) and d.settled_at < ${settledBefore}::timestamptz
    and e.created_at >= coalesce(${since}::timestamptz, '-infinity')
    and e.created_at < coalesce(${until}::timestamptz, 'infinity')`

interface ReplayCounts {
  webhooks: number
  leads: number
}

/** What a replay would send. */
export async function countReplay(sql: Sql, filter: ReplayFilter): Promise<ReplayCounts> {
  const { rows } = await raw<ReplayCounts>`
    select count(*)::int as webhooks, count(distinct l.id)::int as leads ${matching(filter)}`.execute(sql)
  return rows[0] ?? { webhooks: 0, leads: 0 }
}

/** The next webhooks of a replay: leads in the order of their ids, each lead's webhooks in their own. */
export async function replayPage(
  sql: Sql,
  filter: ReplayFilter,
  after: Webhook,
  limit: number,
): Promise<Webhook[]> {
  const { rows } = await raw<Webhook>`
    select l.id as "leadId", d.sequence ${matching(filter)}
      and l.id >= ${after.leadId} and (d.lead_id, d.sequence) > (${after.leadId}::int, ${after.sequence}::int)
    order by l.id, d.sequence limit ${limit}`.execute(sql)
  return rows
}
