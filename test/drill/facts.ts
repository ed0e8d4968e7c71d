import { sql as raw } from 'kysely'
import { leadOf } from '../../src/core/temporal/names.ts'
import { until } from '../support/until.ts'
import type { Follower } from './follower.ts'
import type { Journal } from './load.ts'
import type { Answer, Stack } from './stack.ts'

/** The record as it is at one moment. */
export async function readRecord({ service: { sql }, partner }: Stack) {
  return sql
    .transaction()
    .setIsolationLevel('repeatable read')
    .execute(async (trx) => {
      const leads = await trx.selectFrom('leads').select(['id', 'closed_at']).execute()
      const events = await trx
        .selectFrom('lead_events')
        .select(['id', 'lead_id', 'dedupe_key', 'position', 'event_name'])
        .where('partner_id', '=', partner.id)
        .execute()
      const deliveries = await trx
        .selectFrom('deliveries')
        .select(['event_id', 'lead_id', 'sequence', 'state', 'body'])
        .execute()
      return { at: Date.now(), leads: new Map(leads.map((lead) => [lead.id, lead])), events, deliveries }
    })
}

export type RecordFacts = Awaited<ReturnType<typeof readRecord>>

/** How many webhooks, and leads without a workflow, wait. */
export async function countWaiting({ service: { sql } }: Stack): Promise<number> {
  const { rows } = await raw<{ waiting: number }>`
    select (select count(*) from deliveries where state = 'pending')::int
      + (select count(*) from leads where workflow_started_at is null and closed_at is null)::int as waiting`.execute(
    sql,
  )
  return rows[0]?.waiting ?? 0
}

/** The leads whose workflows run, by the visibility store. */
export async function runningLeads({ service: { client } }: Stack): Promise<Set<number>> {
  const running = new Set<number>()
  const query = `WorkflowType = 'referral' AND ExecutionStatus = 'Running'`
  for await (const { workflowId } of client.workflow.list({ query })) running.add(leadOf(workflowId) ?? 0)
  return running
}

/** What get-lead answers for each of `ids`. */
async function readBack({ call }: Stack, ids: readonly number[]): Promise<Map<number, Answer>> {
  const answers = new Map<number, Answer>()
  const rest = [...ids]
  const read = async () => {
    for (let id = rest.pop(); id !== undefined; id = rest.pop()) {
      const leadId = id
      answers.set(leadId, await until(() => call('get-lead', { lead_id: leadId }).catch(() => undefined)))
    }
  }
  await Promise.all(Array.from({ length: 8 }, read))
  return answers
}

/** Everything that the invariants are checked against. */
export async function gatherFacts(stack: Stack, journal: Journal, follower: Follower) {
  const record = await readRecord(stack)
  const acked = journal.borrowers.flatMap(({ acks }) => acks.map(({ leadId }) => leadId))
  return {
    journal,
    record,
    readBack: await readBack(stack, [...new Set(acked)]),
    running: await runningLeads(stack),
    arrivals: stack.partner.endpoint.arrivals,
    follower,
  }
}

export type Facts = Awaited<ReturnType<typeof gatherFacts>>
