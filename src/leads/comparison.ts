import type { Client, WorkflowExecutionInfo } from '@temporalio/client'
import { sql as raw } from 'kysely'
import { readRecordSignal } from '../../workflows/messages.ts'
import { pages, type Sql } from '../database/sql.ts'
import { scheduleInRound, isFirstOpen } from '../endpoints/open-deliveries.ts'
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

/** Whether workflows have yet to read a restored record. */
export async function hasUnread(sql: Sql): Promise<boolean> {
  const [unread] = await openLeads(sql).where('leads.restored_at', 'is not', null).limit(1).execute()
  return unread !== undefined
}

/** Longer than a webhook of a running workflow waits for its turn, unless its partner has a flood of them. */
const OVERDUE = raw`clock_timestamp() - interval '2 minutes'`
/** Overdue leads of each partner in one comparison, so that one partner's flood hides no other's leads. */
const MOST_OF_A_PARTNER = 20

/**
 * Leads whose workflow should have sent a webhook some time ago: the lead's first open one is due, and its endpoint takes
 * webhooks. The longest overdue first, a few of each partner. A wake does not disturb a request in flight.
 */
async function overdueLeads(sql: Sql): Promise<number[]> {
  const { rows } = await raw<{ leadId: number }>`
    select overdue.lead_id as "leadId"
    from endpoints e cross join lateral (
      select d.lead_id
      from deliveries d join leads l on l.id = d.lead_id
      where d.partner_id = e.partner_id and d.state = 'pending' and ${scheduleInRound('d', 'e').nextAttemptAt} <= ${OVERDUE}
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
 * The workflows that a query finds, from the visibility store, which may be slightly behind. Each page has a deadline:
 * without one, a call to a Temporal that does not answer never ends.
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

/** What was done for which leads. */
interface Repairs {
  /** Their workflows were started from the record, if they did not run. */
  started: number[]
  /** Their workflows were told to read the record again, and to send what is due. */
  refreshed: number[]
  failed: { item: number; error: unknown }[]
}

/**
 * Compares leads with the running workflows. Starts missing workflows from the record, which repeats no webhook and moves no
 * date, and refreshes those that lag behind it or whose webhook is overdue.
 *
 * @param endedSince compares only workflows that ended since then, in milliseconds since 1970, for example because they were
 *   terminated; all open leads without it, and after a restore.
 */
export async function compareLeads(
  { client, sql, referrals }: { client: Client; sql: Sql; referrals: Referrals },
  { endedSince, signal }: { endedSince?: number | undefined; signal?: AbortSignal } = {},
): Promise<Repairs> {
  const repairs: Repairs = { started: [], refreshed: [], failed: [] }
  const repair = async (done: number[], ids: Iterable<number>, work: (id: number) => Promise<boolean>) => {
    const workOn = async (id: number) => void ((await work(id)) && done.push(id))
    repairs.failed.push(...(await forEachInFlight(ids, workOn, { signal })))
  }
  const refresh = async (id: number) =>
    (await referrals.signal(id, readRecordSignal)) &&
    // Temporal may have been restored to a time before a resume woke the workflow
    referrals.wake(id)
  const isFull = endedSince === undefined || (await hasUnread(sql))
  const { missing, lagging } = isFull
    ? await allDifferences(client, sql, signal)
    : { missing: await endedEarly(client, sql, endedSince), lagging: [] }
  await repair(repairs.started, missing, referrals.startFromRecord)
  await repair(repairs.refreshed, new Set([...lagging, ...(await overdueLeads(sql))]), refresh)
  return repairs
}

/** Open leads whose workflow ended since a time and does not run again. */
async function endedEarly(client: Client, sql: Sql, since: number): Promise<number[]> {
  const query = `WorkflowType = 'referral' AND ExecutionStatus NOT IN ('Running', 'ContinuedAsNew') AND CloseTime > '${new Date(since).toISOString()}'`
  const ended = new Set<number>()
  for await (const { workflowId } of listWorkflows(client, query)) ended.add(leadOf(workflowId) ?? 0)
  const open = await openLeads(sql)
    // one parameter: there may be more than a statement can have
    .where((eb) => eb('leads.id', '=', eb.fn.any(eb.val([...ended]))))
    .execute()
  return open.map(({ id }) => id)
}

/**
 * Open leads without a workflow, and those whose workflow knows less than the record, for example because Temporal was put
 * back from a copy: it shows another status, or has not read the record since a restore. A workflow that only lacks a webhook
 * is found once the webhook is overdue.
 */
async function allDifferences(client: Client, sql: Sql, signal: AbortSignal | undefined) {
  const running = await runningLeads(client, signal)
  const [missing, lagging]: [number[], number[]] = [[], []]
  const read = (after: number, limit: number) =>
    openLeads(sql).where('leads.id', '>', after).orderBy('leads.id').limit(limit).execute()
  for await (const page of pages(PAGE, 0, read, ({ id }) => id)) {
    if (signal?.aborted) break
    for (const { id, status, isUnread } of page) {
      if (!running.has(id)) missing.push(id)
      else if (isUnread || running.get(id) !== status) lagging.push(id)
      running.delete(id)
    }
  }
  // the rest is closed in the record; these workflows end once they have read that
  return { missing, lagging: [...lagging, ...running.keys()] }
}

/** The leads whose workflow runs, with the status in its search attributes. */
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
