import type { Client } from '@temporalio/client'
import { readRecordSignal, wakeSignal } from '../../../../workflows/messages.ts'
import { hasUnread, type OpenLead, openAmong, openLeads } from '../statements/open-leads.ts'
import { overdueLeads } from '../statements/overdue-leads.ts'
import type { Sql } from '../../database/sql.ts'
import { forEachInFlight } from '../../temporal/in-flight.ts'
import { countWorkflows, listWorkflows } from '../../temporal/list-workflows.ts'
import { leadOf, referralId } from '../../temporal/names.ts'
import type { Referrals } from './referrals.ts'
import { attributeKeys } from '../../temporal/search-attributes.ts'

const PAGE = 1000

interface Dependencies {
  client: Client
  sql: Sql
  referrals: Referrals
  signal?: AbortSignal
  /** Called for each lead whose workflow could not be started or signalled. */
  onFailure?: (error: unknown, leadId: number) => void
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

/** What the comparison does for leads: for all, or those that ended since then (in milliseconds since 1970) or are overdue. */
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

/**
 * Restarts the workflows of open leads that ended since `sinceMs` (milliseconds since the epoch), for example because
 * they were terminated.
 */
export async function restartEnded(dependencies: Dependencies, sinceMs: number): Promise<number[]> {
  const { client, sql, referrals, signal, onFailure } = dependencies
  const since = new Date(sinceMs).toISOString()
  const query = `WorkflowType = 'referral' AND ExecutionStatus NOT IN ('Running', 'ContinuedAsNew') AND CloseTime > '${since}'`
  const ended = new Set<number>()
  for await (const { workflowId } of listWorkflows(client, query)) {
    const leadId = leadOf(workflowId)
    if (leadId !== undefined) ended.add(leadId)
  }
  const ids = (await openAmong(sql, [...ended])).map(({ id }) => id)
  const started: number[] = []
  const start = async (id: number) => {
    if (await isRunning(client, id)) return
    if (await referrals.startFromRecord(id)) started.push(id)
  }
  const failed = await forEachInFlight(ids, start, { signal })
  for (const { item, error } of failed) onFailure?.(error, item)
  return started
}

/**
 * Tells the workflows whose webhook is overdue to read the record again and to send it, or starts them. A workflow that Temporal was put
 * back to may have been up to date when all were compared, and have lost what it knew by then.
 */
export async function refreshOverdue(dependencies: Dependencies): Promise<number[]> {
  const { sql, referrals, signal, onFailure } = dependencies
  const refreshed: number[] = []
  const refresh = async (id: number) => {
    if (!(await referrals.signal(id, readRecordSignal))) return
    // it may wait for a resume that it was told of before Temporal was put back
    await referrals.signal(id, wakeSignal)
    refreshed.push(id)
  }
  const failed = await forEachInFlight(await overdueLeads(sql), refresh, { signal })
  for (const { item, error } of failed) onFailure?.(error, item)
  return refreshed
}

/**
 * Compares all open leads with the running workflows. Starts missing workflows from the record, which repeats no webhook
 * and moves no date. After a reset, or when Temporal was put back from a copy, a workflow may know less than the record:
 * one with another status, or without a failing or held webhook while one is open, is told to read it again, and each one
 * after a restore.
 *
 * @param dryRun only reports what it would do.
 */
export async function reconcile(
  dependencies: Dependencies,
  { dryRun = false }: { dryRun?: boolean } = {},
): Promise<Reconciliation> {
  const { client, sql, referrals, signal, onFailure } = dependencies
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
  const forEach = async (ids: Iterable<number>, put: (id: number) => Promise<void>) => {
    for (const { item, error } of await forEachInFlight(ids, put, { signal })) {
      result.failed.push(item)
      onFailure?.(error, item)
    }
  }
  for (let afterId = 0, page: OpenLead[] = []; ; afterId = page.at(-1)?.id ?? 0) {
    page = await openLeads(sql, afterId, PAGE)
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

/** What each running workflow tells, from the visibility store, which may be slightly behind. */
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

async function isRunning(client: Client, leadId: number): Promise<boolean> {
  const query = `WorkflowId = '${referralId(leadId)}' AND ExecutionStatus = 'Running'`
  return (await countWorkflows(client, query)) > 0
}
