import {
  type Client,
  WithStartWorkflowOperation,
  WorkflowExecutionAlreadyStartedError,
} from '@temporalio/client'
import { sql as raw } from 'kysely'
import { resendUpdate, sendNowSignal, type Webhook } from '../../workflows/messages.ts'
import type { resend as resendWorkflow, Resends } from '../../workflows/resend.ts'
import type { Sql } from '../database/sql.ts'
import type { Referrals } from '../leads/referrals.ts'
import { inBatches } from '../temporal/in-flight.ts'
import { replayId, resendId, TASK_QUEUE } from '../temporal/names.ts'
import type { findDelivery } from './resend-webhook.ts'

export type ReplayedState = 'given_up' | 'delivered'

/** Which settled deliveries of a partner are sent once more; dates in ISO 8601. */
export interface ReplayFilter {
  partnerId: number
  states: ReplayedState[]
  /** Events from this date on. */
  since: string | null
  /** Events before this date; events have the dates of their lead's clock. */
  until: string | null
  /** Settled before this date: what is delivered during a replay is not part of it. */
  settledBefore: string
}

/** Where a replay stands: leads in the order of their ids, each lead's webhooks in their own. */
export interface ReplayCursor {
  leadId: number
  sequence: number
}

function matching(sql: Sql, { partnerId, states, since, until, settledBefore }: ReplayFilter) {
  return sql
    .selectFrom('leads')
    .innerJoin('deliveries', 'deliveries.lead_id', 'leads.id')
    .innerJoin('lead_events', 'lead_events.id', 'deliveries.event_id')
    .where('leads.partner_id', '=', partnerId)
    .where('leads.erased_at', 'is', null)
    .where('deliveries.state', 'in', states)
    .where('deliveries.settled_at', '<', raw<Date>`${settledBefore}::timestamptz`)
    .$if(until !== null, (query) =>
      query.where('lead_events.created_at', '<', raw<Date>`${until}::timestamptz`),
    )
    .$if(since !== null, (query) =>
      query.where('lead_events.created_at', '>=', raw<Date>`${since}::timestamptz`),
    )
}

/** The next webhooks of a replay. */
export async function replayPage(
  sql: Sql,
  filter: ReplayFilter,
  after: ReplayCursor,
  limit: number,
): Promise<ReplayCursor[]> {
  return matching(sql, filter)
    .select(['leads.id as leadId', 'deliveries.sequence'])
    .where('leads.id', '>=', after.leadId)
    .where(
      raw<boolean>`(deliveries.lead_id, deliveries.sequence) > (${after.leadId}::int, ${after.sequence}::int)`,
    )
    .orderBy('leads.id')
    .orderBy('deliveries.sequence')
    .limit(limit)
    .execute()
}

/** What a replay would send. */
export async function countReplay(sql: Sql, filter: ReplayFilter) {
  return matching(sql, filter)
    .select([
      raw<number>`count(*)::int`.as('webhooks'),
      raw<number>`count(distinct leads.id)::int`.as('leads'),
      raw<number>`(count(*) filter (where deliveries.state = 'given_up'))::int`.as('given_up'),
      raw<number>`(count(*) filter (where deliveries.state = 'delivered'))::int`.as('delivered'),
    ])
    .executeTakeFirstOrThrow()
}

const CALL_LIMIT_MS = 10_000
const nothing: Resends = { delivered: 0, failed: 0, waiting: [] }

/** The one way in which settled webhooks are sent once more. */
export function createResends(client: Client) {
  const limited = <Result>(call: () => Promise<Result>) =>
    client.withDeadline(Date.now() + CALL_LIMIT_MS, call)

  const optionsOf = (workflowId: string, partnerId: number, resends: Resends, staticSummary: string) => ({
    workflowId,
    taskQueue: TASK_QUEUE,
    args: [partnerId, resends] as Parameters<typeof resendWorkflow>,
    workflowIdReusePolicy: 'ALLOW_DUPLICATE' as const,
    staticSummary,
  })

  return {
    /** Adds to those of a partner that wait. @returns which of them are too many. */
    async add(partnerId: number, webhooks: Webhook[]): Promise<Webhook[]> {
      const startWorkflowOperation = new WithStartWorkflowOperation<typeof resendWorkflow>('resend', {
        ...optionsOf(resendId(partnerId), partnerId, nothing, `Resends of partner ${partnerId}`),
        workflowIdConflictPolicy: 'USE_EXISTING',
      })
      const options = { args: [webhooks] as [Webhook[]], startWorkflowOperation }
      return limited(() => client.workflow.executeUpdateWithStart(resendUpdate, options))
    },

    /** Sends what a filter finds. @returns the workflow's id; `undefined` when a replay of this partner is under way. */
    async replay(filter: ReplayFilter, total: number): Promise<string | undefined> {
      const { partnerId } = filter
      const workflowId = replayId(partnerId)
      const resends = { ...nothing, replay: { filter, total, at: { leadId: 0, sequence: 0 } } }
      const summary = `Replay of partner ${partnerId}: ${total} webhooks`
      const options = {
        ...optionsOf(workflowId, partnerId, resends, summary),
        workflowIdConflictPolicy: 'FAIL' as const,
      }
      try {
        await limited(() => client.workflow.start<typeof resendWorkflow>('resend', options))
        return workflowId
      } catch (error) {
        if (error instanceof WorkflowExecutionAlreadyStartedError) return undefined
        throw error
      }
    },
  }
}

export type ResentDelivery = NonNullable<Awaited<ReturnType<typeof findDelivery>>>

/**
 * Has a webhook sent now, without waiting for that: an open one by its lead's workflow, in order; a settled one by its
 * partner's resends. Rejects if the workflow cannot be reached.
 */
export type ResendWebhook = (delivery: ResentDelivery) => Promise<'accepted' | 'too_many'>

export function createResender(client: Client, referrals: Pick<Referrals, 'signal'>): ResendWebhook {
  const resends = createResends(client)
  // one update takes all that a partner asks for at a time
  const add = inBatches(async (partnerId, webhooks: Webhook[]) => resends.add(partnerId, webhooks))
  return async ({ state, waits_for: earlier, lead_id: leadId, partner_id: partnerId, sequence }) => {
    if (state !== 'pending') {
      const refused = await add(partnerId, { leadId, sequence })
      const isRefused = refused.some((one) => one.leadId === leadId && one.sequence === sequence)
      return isRefused ? 'too_many' : 'accepted'
    }
    // it follows the earlier one by itself
    if (earlier === null) await referrals.signal(leadId, sendNowSignal)
    return 'accepted'
  }
}
