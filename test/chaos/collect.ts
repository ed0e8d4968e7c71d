import type { InHistory } from '../../src/leads/event-payloads.ts'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import type { Client } from '@temporalio/client'
import type { Sql } from '../../src/database/sql.ts'
import { forEachInFlight } from '../../src/temporal/in-flight.ts'
import type { Evidence, LeadJournal, View } from './evidence.ts'
import { readView } from './load.ts'
import type { Ask } from './partner-api.ts'

/** What PostgreSQL has in the end. */
export async function collectRecord(sql: Sql) {
  const [leads, events, deliveries] = await Promise.all([
    sql.selectFrom('leads').select(['id', 'partner_id', 'status']).execute(),
    sql
      .selectFrom('lead_events')
      .select(['id', 'lead_id', 'partner_id', 'position', 'event_name', 'event_payload', 'created_at'])
      .where('position', '>', 0)
      .$narrowType<InHistory>()
      .orderBy('lead_id')
      .orderBy('position')
      .execute(),
    sql.selectFrom('deliveries').select(['event_id', 'lead_id', 'sequence', 'state', 'body']).execute(),
  ])
  return { leads, events, deliveries }
}

/** What partners read of their leads when all is over. */
export async function collectViews(leads: LeadJournal[], ask: Ask): Promise<Map<number, View>> {
  const views = new Map<number, View>()
  await forEachInFlight(leads, async (lead) => {
    const view = await readView(ask, lead)
    if (lead.leadId !== null && view) views.set(lead.leadId, view)
  })
  return views
}

export type RecordRows = Awaited<ReturnType<typeof collectRecord>>
export type RecordedEvent = RecordRows['events'][number]

/** One run of a workflow. */
export interface Execution {
  workflowId: string
  status: string
  /** Of its workflow task, if one is pending. */
  taskAttempt: number
}

/** Every run of every lead's workflow. */
export async function collectWorkflows(client: Client): Promise<Execution[]> {
  const executions: Execution[] = []
  const runs: { workflowId: string; runId: string; status: { name: string } }[] = []
  for await (const run of client.workflow.list({ query: `WorkflowType = 'referral'` })) runs.push(run)
  await forEachInFlight(runs, async ({ workflowId, runId, status }) => {
    const { raw } = await client.workflow.getHandle(workflowId, runId).describe()
    executions.push({ workflowId, status: status.name, taskAttempt: raw.pendingWorkflowTask?.attempt ?? 0 })
  })
  return executions
}

/** Which of the secrets are in which of the files. */
export function searchFiles(files: string[], secrets: Record<string, string>): Evidence['search'] {
  const leaks = files.flatMap((file) => {
    const bytes = readFileSync(file)
    const found = Object.entries(secrets).filter(([, secret]) => bytes.includes(secret))
    return found.map(([what]) => `${what} in ${path.basename(file)}`)
  })
  return { files: files.length, leaks }
}
