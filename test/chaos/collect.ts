import type { InHistory } from '../../src/core/leads/decisions/closed-webhook.ts'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import type { Client } from '@temporalio/client'
import type { Sql } from '../../src/core/database/orm.ts'
import { forEachInFlight } from '../../src/core/temporal/in-flight.ts'
import type { ReferralView } from '../../workflows/messages.ts'
import type { Account, Call, Evidence, Execution, LeadJournal, RecordRows, View } from './evidence.ts'
import { readView } from './load.ts'
import type { PartnerApi } from './partner-api.ts'
import type { ChaosPartner } from './partners.ts'

/** Each query of a workflow that no worker has in its cache replays its history. */
const ACCOUNTS = 40
const FOREIGN = 40
const NOBODYS_LEAD = 2_000_000_000

export async function collectRecord(sql: Sql): Promise<RecordRows> {
  const [leads, events, deliveries] = await Promise.all([
    sql.selectFrom('leads').select(['id', 'partner_id', 'status']).execute(),
    sql
      .selectFrom('lead_events')
      .select(['id', 'lead_id', 'partner_id', 'position', 'event_name', 'event_payload', 'created_at'])
      .where('position', 'is not', null)
      .$narrowType<InHistory>()
      .orderBy('lead_id')
      .orderBy('position')
      .execute(),
    sql.selectFrom('deliveries').select(['event_id', 'lead_id', 'sequence', 'state', 'body']).execute(),
  ])
  return { leads, events, deliveries }
}

/** What partners read of their leads when all is over. */
export async function collectViews(
  leads: LeadJournal[],
  partners: ChaosPartner[],
  api: PartnerApi,
): Promise<Map<number, View>> {
  const views = new Map<number, View>()
  await forEachInFlight(leads, async ({ leadId, partnerId }) => {
    const partner = partners.find(({ id }) => id === partnerId)
    const view = leadId !== null && partner && (await readView(api, partner, leadId, 'until'))
    if (leadId !== null && view) views.set(leadId, view)
  })
  return views
}

/** Each partner asks for another's leads, and for one that does not exist. */
export async function collectForeign(
  leads: LeadJournal[],
  partners: ChaosPartner[],
  api: PartnerApi,
): Promise<Call[]> {
  const calls: Call[] = []
  for (const { leadId, partnerId } of leads.slice(0, FOREIGN)) {
    const stranger = partners.find(({ id }) => id !== partnerId)
    if (stranger === undefined) continue
    for (const route of ['get-lead', 'get-events', 'update-partner-info']) {
      for (const id of [leadId ?? NOBODYS_LEAD, NOBODYS_LEAD]) {
        const body = { lead_id: id, branch: 'theirs' }
        const call = await api.until({ partnerId: stranger.id, apiKey: stranger.key, path: route, body })
        if (call !== undefined) calls.push(call)
      }
    }
  }
  return calls
}

/** Every run of every lead's workflow. */
export async function collectWorkflows(client: Client): Promise<Execution[]> {
  const executions: Execution[] = []
  for await (const { workflowId, runId, status } of client.workflow.list({
    query: `WorkflowType = 'referral'`,
  }))
    executions.push({ workflowId, runId, status: status.name, taskAttempt: 0 })
  await forEachInFlight(
    executions.filter(({ status }) => status === 'RUNNING'),
    async (execution) => {
      const { raw } = await client.workflow.getHandle(execution.workflowId, execution.runId).describe()
      execution.taskAttempt = raw.pendingWorkflowTask?.attempt ?? 0
    },
  )
  return executions
}

export async function collectAccounts(client: Client, leads: LeadJournal[]): Promise<Account[]> {
  const accounts: Account[] = []
  await forEachInFlight(leads.slice(-ACCOUNTS), async ({ leadId, milestones }) => {
    if (leadId === null) return
    const { signals, waiting } = await client.workflow
      .getHandle(`lead-${leadId}`)
      .query<ReferralView>('state')
    accounts.push({
      leadId,
      received: signals.received,
      decided: signals.recorded + signals.repeated + signals.refused + signals.notUnderstood,
      waiting,
      acknowledged: milestones.filter(({ acknowledgedAt }) => acknowledgedAt !== null).length,
    })
  })
  return accounts
}

/** Which of the secrets are in which of the files, and in how many of them a workflow's id is found. */
export function searchFiles(
  files: string[],
  secrets: Record<string, string>,
  workflowId: string,
): Evidence['search'] {
  const search = { files: files.length, leaks: [] as string[], found: 0 }
  for (const file of files) {
    const bytes = readFileSync(file)
    const leaks = Object.entries(secrets).filter(([, secret]) => bytes.includes(secret))
    search.leaks.push(...leaks.map(([what]) => `${what} in ${path.basename(file)}`))
    if (bytes.includes(workflowId)) search.found += 1
  }
  return search
}
