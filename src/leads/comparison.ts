import type { Client, WorkflowExecutionInfo } from '@temporalio/client'
import { sql as raw } from 'kysely'
import { readRecordSignal, wakeSignal } from '../../workflows/messages.ts'
import { pages, type Sql } from '../database/sql.ts'
import { countedOf, isFirstOpen, isLeased } from '../deliveries/delivery.ts'
import { forEachInFlight } from '../temporal/in-flight.ts'
import { leadOf } from '../temporal/names.ts'
import { attributeKeys } from '../temporal/search-attributes.ts'
import type { Referrals } from './referrals.ts'

/**
 * Open leads: not closed, or with webhooks still to be sent. Webhooks held by a paused endpoint don't count: a resume
 * starts their leads' workflows.
 */
function openLeads(sql: Sql) {
  return sql
    .selectFrom('leads')
    .select(['leads.id', 'leads.status'])
    .select(raw<boolean>`leads.restored_at is not null`.as('isUnread'))
    .where(
      raw<boolean>`(leads.closed_at is null and leads.erased_at is null or exists (
        select from deliveries d join endpoints e on e.partner_id = d.partner_id
        where d.lead_id = leads.id and d.state = 'pending' and e.state <> 'paused'
      ))`,
    )
}

/** Whether the record was restored, and workflows are still to read it. */
export async function hasUnread(sql: Sql): Promise<boolean> {
  const [unread] = await openLeads(sql).where('leads.restored_at', 'is not', null).limit(1).execute()
  return unread !== undefined
}

/** Longer than a webhook of a running workflow waits for its turn, unless its partner has a flood of them. */
const OVERDUE = raw`clock_timestamp() - interval '2 minutes'`
/** Of each partner, so that the flood of one hides no lead of another. */
const MOST_OF_A_PARTNER = 20

/**
 * Leads whose workflow should have sent a webhook some time ago: the lead's first open one is due, its endpoint takes
 * webhooks, and nobody is sending it. The longest overdue first, a few of each partner.
 */
async function overdueLeads(sql: Sql): Promise<number[]> {
  const { rows } = await raw<{ leadId: number }>`
    select overdue.lead_id as "leadId"
    from endpoints e cross join lateral (
      select d.lead_id
      from deliveries d join leads l on l.id = d.lead_id
      where d.partner_id = e.partner_id and d.state = 'pending' and ${countedOf('d', 'e').nextAttemptAt} <= ${OVERDUE}
        and not ${isLeased}
        and l.workflow_started_at is not null
        and ${isFirstOpen}
      order by d.next_attempt_at
      limit ${MOST_OF_A_PARTNER}
    ) overdue
    where e.state = 'active'`.execute(sql)
  return rows.map(({ leadId }) => leadId)
}

/** A page of a thousand takes a fraction of a second. */
const PAGE_LIMIT_MS = 10_000
const PAGE = 1000

/**
 * The workflows that a query finds, from the visibility store, which may be slightly behind. However many they are, each
 * page must come within its limit: without one, a call to a Temporal that has fallen silent never ends.
 */
export async function* listWorkflows(
  client: Client,
  query: string,
  { pageSize = PAGE, pageLimitMs = PAGE_LIMIT_MS } = {},
): AsyncGenerator<WorkflowExecutionInfo> {
  const found = client.workflow.list({ query, pageSize })[Symbol.asyncIterator]()
  const next = () => client.withDeadline(Date.now() + pageLimitMs, async () => found.next())
  for (let each = await next(); !each.done; each = await next()) yield each.value
}

interface Dependencies {
  client: Client
  sql: Sql
  referrals: Referrals
  signal?: AbortSignal
  /** Called for each lead whose workflow could not be started or signalled. */
  onFailure?: (error: unknown, leadId: number) => void
}

/** The comparison of leads: of all, or of those that ended since then (in milliseconds since 1970) or are overdue. */
export function compareLeads(given: Pick<Dependencies, 'client' | 'sql' | 'referrals'>) {
  return async (
    { all, endedSince }: { all: boolean; endedSince: number },
    told: Required<Pick<Dependencies, 'signal' | 'onFailure'>>,
  ): Promise<{ repaired: number; failed: number }> => {
    const dependencies = { ...given, ...told }
    const isFull = all || (await hasUnread(given.sql))
    const compared = isFull ? await reconcile(dependencies) : await restartEnded(dependencies, endedSince)
    const overdue = await refreshOverdue(dependencies)
    return {
      repaired: compared.started.length + compared.refreshed.length + overdue.refreshed.length,
      failed: compared.failed.length + overdue.failed.length,
    }
  }
}

/** What was done for which leads. */
export interface Repairs {
  /** Their workflows were started from the record, if they did not run. */
  started: number[]
  /** Their workflows were told to read the record again, and to send what is due. */
  refreshed: number[]
  failed: number[]
}

function repairing({ referrals, signal, onFailure }: Dependencies) {
  const repairs: Repairs = { started: [], refreshed: [], failed: [] }
  const forEach = async (ids: Iterable<number>, work: (id: number) => Promise<unknown>) => {
    const failed = await forEachInFlight(ids, work, { signal })
    for (const { item, error } of failed) {
      repairs.failed.push(item)
      onFailure?.(error, item)
    }
  }
  const start = async (id: number) => {
    if (await referrals.startFromRecord(id)) repairs.started.push(id)
  }
  const refresh = async (id: number) => {
    if (!(await referrals.signal(id, readRecordSignal))) return
    // it may wait for a resume that it was told of before Temporal was put back
    await referrals.signal(id, wakeSignal)
    repairs.refreshed.push(id)
  }
  return {
    repairs,
    start: (ids: Iterable<number>) => forEach(ids, start),
    refresh: (ids: Iterable<number>) => forEach(ids, refresh),
  }
}

/**
 * Restarts the workflows of open leads that ended since `sinceMs` (milliseconds since the epoch), for example because
 * they were terminated. A workflow that runs again stays as it is.
 */
export async function restartEnded(dependencies: Dependencies, sinceMs: number): Promise<Repairs> {
  const { client, sql } = dependencies
  const since = new Date(sinceMs).toISOString()
  const query = `WorkflowType = 'referral' AND ExecutionStatus NOT IN ('Running', 'ContinuedAsNew') AND CloseTime > '${since}'`
  const ended = new Set([0])
  for await (const { workflowId } of listWorkflows(client, query)) ended.add(leadOf(workflowId) ?? 0)
  const open = await openLeads(sql)
    .where('leads.id', 'in', [...ended])
    .execute()
  const { repairs, start } = repairing(dependencies)
  await start(open.map(({ id }) => id))
  return repairs
}

/**
 * Refreshes the workflows whose webhook is overdue, or starts them. A workflow that Temporal was put back to may have been up
 * to date when all were compared, and have lost what it knew by then.
 */
export async function refreshOverdue(dependencies: Dependencies): Promise<Repairs> {
  const { repairs, refresh } = repairing(dependencies)
  await refresh(await overdueLeads(dependencies.sql))
  return repairs
}

/**
 * Compares all open leads with the running workflows. Starts missing workflows from the record, which repeats no webhook
 * and moves no date. After a reset, or when Temporal was put back from a copy, a workflow may know less than the record.
 * It is refreshed if it has another status, or has not read the record since a restore; one that only lacks a webhook, once
 * that is overdue.
 */
export async function reconcile(dependencies: Dependencies): Promise<Repairs> {
  const { client, sql, signal } = dependencies
  const running = await runningLeads(client, signal)
  const { repairs, start, refresh } = repairing(dependencies)
  const read = (after: number, limit: number) =>
    openLeads(sql).where('leads.id', '>', after).orderBy('leads.id').limit(limit).execute()
  for await (const page of pages(PAGE, 0, read, ({ id }) => id)) {
    // what was not compared yet is left to the next time
    if (signal?.aborted) return repairs
    const [missing, others] = [
      page.filter(({ id }) => !running.has(id)),
      page.filter(({ id }) => running.has(id)),
    ]
    await start(missing.map(({ id }) => id))
    const lagging = others.filter(({ id, status, isUnread }) => isUnread || running.get(id) !== status)
    await refresh(lagging.map(({ id }) => id))
    for (const { id } of others) running.delete(id)
  }
  // the rest is closed in the record; these workflows end once they have read that
  await refresh(running.keys())
  return repairs
}

/** The leads whose workflow runs, with the status that it tells of itself. */
async function runningLeads(client: Client, signal?: AbortSignal): Promise<Map<number, string | undefined>> {
  const running = new Map<number, string | undefined>()
  const query = `WorkflowType = 'referral' AND ExecutionStatus = 'Running'`
  for await (const { workflowId, typedSearchAttributes } of listWorkflows(client, query)) {
    const leadId = leadOf(workflowId)
    if (leadId !== undefined) running.set(leadId, typedSearchAttributes.get(attributeKeys.LeadStatus))
    if (signal?.aborted) break
  }
  return running
}
