import type { Client, WorkflowExecutionInfo } from '@temporalio/client'
import { sql as raw } from 'kysely'
import { readRecordSignal, wakeSignal } from '../../workflows/messages.ts'
import type { Sql } from '../database/sql.ts'
import { countedOf, isFirstOpen, isLeased } from '../deliveries/delivery.ts'
import { forEachInFlight } from '../temporal/in-flight.ts'
import { leadOf, referralId } from '../temporal/names.ts'
import { attributeKeys } from '../temporal/search-attributes.ts'
import type { MilestoneName } from './milestones.ts'
import type { Referrals } from './referrals.ts'

/** A lead that needs a running workflow. */
interface OpenLead {
  id: number
  status: MilestoneName
  /** Whether a webhook is still to be sent. */
  isSending: boolean
  /** Whether the record was restored since its workflow read it. */
  isUnread: boolean
  /** Whether its workflow was just started, and has not told of itself yet. */
  isNew: boolean
}

/**
 * Open leads: not closed, or with webhooks still to be sent. Webhooks held by a paused endpoint don't count: a resume
 * starts their leads' workflows.
 */
function openLeads(sql: Sql) {
  return sql
    .selectFrom('leads')
    .select(['leads.id', 'leads.status'])
    .select(raw<boolean>`leads.restored_at is not null`.as('isUnread'))
    .select(
      raw<boolean>`coalesce(workflow_started_at > clock_timestamp() - interval '1 minute', true)`.as('isNew'),
    )
    .select(
      raw<boolean>`exists (select from deliveries where lead_id = leads.id and state = 'pending')`.as(
        'isSending',
      ),
    )
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
    let failed = 0
    const onFailure = (error: unknown, leadId: number) => {
      failed += 1
      told.onFailure(error, leadId)
    }
    const dependencies = { ...given, ...told, onFailure }
    const isFull = all || (await hasUnread(given.sql))
    const started = isFull
      ? (await reconcile(dependencies)).started
      : await restartEnded(dependencies, endedSince)
    const overdue = await refreshOverdue(dependencies)
    return { repaired: started.length + overdue.length, failed }
  }
}

/** Does `work` for each lead. @returns those for which it failed. */
async function forEachLead(
  { signal, onFailure }: Dependencies,
  ids: Iterable<number>,
  work: (id: number) => Promise<unknown>,
): Promise<number[]> {
  const failed = await forEachInFlight(ids, work, { signal })
  for (const { item, error } of failed) onFailure?.(error, item)
  return failed.map(({ item }) => item)
}

/**
 * Restarts the workflows of open leads that ended since `sinceMs` (milliseconds since the epoch), for example because
 * they were terminated. A workflow that runs again stays as it is.
 */
export async function restartEnded(dependencies: Dependencies, sinceMs: number): Promise<number[]> {
  const { client, sql, referrals } = dependencies
  const since = new Date(sinceMs).toISOString()
  const query = `WorkflowType = 'referral' AND ExecutionStatus NOT IN ('Running', 'ContinuedAsNew') AND CloseTime > '${since}'`
  const ended = new Set<number>()
  for await (const { workflowId } of listWorkflows(client, query)) ended.add(leadOf(workflowId) ?? 0)
  if (ended.size === 0) return []
  const open = await openLeads(sql)
    .where('leads.id', 'in', [...ended])
    .execute()
  const started: number[] = []
  const start = async (id: number) => {
    const running = `WorkflowId = '${referralId(id)}' AND ExecutionStatus = 'Running'`
    for await (const _ of listWorkflows(client, running)) return
    if (await referrals.startFromRecord(id)) started.push(id)
  }
  const ids = open.map(({ id }) => id)
  await forEachLead(dependencies, ids, start)
  return started
}

/**
 * Tells the workflows whose webhook is overdue to read the record again and to send it, or starts them. A workflow that
 * Temporal was put back to may have been up to date when all were compared, and have lost what it knew by then.
 */
export async function refreshOverdue(dependencies: Dependencies): Promise<number[]> {
  const { sql, referrals } = dependencies
  const refreshed: number[] = []
  await forEachLead(dependencies, await overdueLeads(sql), async (id) => {
    if (!(await referrals.signal(id, readRecordSignal))) return
    // it may wait for a resume that it was told of before Temporal was put back
    await referrals.signal(id, wakeSignal)
    refreshed.push(id)
  })
  return refreshed
}

export interface Reconciliation {
  /** Leads that must have a running workflow, by the record. */
  open: number
  /** Of them, those without one: started from the record. */
  started: number[]
  /** Workflows that know less than the record: told to read it again. */
  refreshed: number[]
  /** Leads for which either of these failed. */
  failed: number[]
}

/**
 * Compares all open leads with the running workflows. Starts missing workflows from the record, which repeats no webhook
 * and moves no date. After a reset, or when Temporal was put back from a copy, a workflow may know less than the record.
 * It is told to read the record again if it has another status, knows of no failing or held webhook while one is open, or
 * has not read the record since a restore.
 *
 * @param dryRun only reports what it would do.
 */
export async function reconcile(
  dependencies: Dependencies,
  { dryRun = false }: { dryRun?: boolean } = {},
): Promise<Reconciliation> {
  const { client, sql, referrals, signal } = dependencies
  const running = await runningLeads(client, signal)
  const result: Reconciliation = { open: 0, started: [], refreshed: [], failed: [] }
  const start = async (id: number) => {
    if (!dryRun) await referrals.startFromRecord(id)
    result.started.push(id)
  }
  const refresh = async (id: number) => {
    if (!dryRun) await referrals.signal(id, readRecordSignal)
    result.refreshed.push(id)
  }
  const forEach = async (ids: Iterable<number>, work: (id: number) => Promise<void>) =>
    result.failed.push(...(await forEachLead(dependencies, ids, work)))
  for (let afterId = 0, page: OpenLead[] = []; ; afterId = page.at(-1)?.id ?? 0) {
    page = await openLeads(sql).where('leads.id', '>', afterId).orderBy('leads.id').limit(PAGE).execute()
    result.open += page.length
    const differing = page.filter((lead) => !isKnown(lead, running.get(lead.id))).map(({ id }) => id)
    await forEach(differing, (id) => (running.has(id) ? refresh(id) : start(id)))
    for (const { id } of page) running.delete(id)
    if (page.length < PAGE) break
    // what was not compared yet is left to the next time
    if (signal?.aborted) return result
  }
  // the rest is closed in the record; these workflows end once they have read that
  await forEach(running.keys(), refresh)
  return result
}

/** What a running workflow tells of itself. */
interface Told {
  status: string | undefined
  delivery: string | undefined
}

/** A webhook that is being sent at this moment looks like one that the workflow does not know of: it reads in vain. */
function isKnown({ status, isSending, isUnread, isNew }: OpenLead, told: Told | undefined): boolean {
  if (told === undefined || isUnread) return false
  return isNew || (told.status === status && !(isSending && told.delivery === 'ok'))
}

async function runningLeads(client: Client, signal?: AbortSignal): Promise<Map<number, Told>> {
  const running = new Map<number, Told>()
  const query = `WorkflowType = 'referral' AND ExecutionStatus = 'Running'`
  for await (const { workflowId, typedSearchAttributes } of listWorkflows(client, query)) {
    const leadId = leadOf(workflowId)
    const status = typedSearchAttributes.get(attributeKeys.LeadStatus)
    const delivery = typedSearchAttributes.get(attributeKeys.DeliveryState)
    if (leadId !== undefined) running.set(leadId, { status, delivery })
    if (signal?.aborted) break
  }
  return running
}
