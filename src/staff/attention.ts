import type { Command } from 'commander'
import { type RawBuilder, sql as raw } from 'kysely'
import type { Sql } from '../database/sql.ts'
import { leadsWithoutNews } from '../leads/lead.ts'
import { isValidKey } from '../partners/keys.ts'
import { table } from './answer.ts'
import type { Run, StaffContext } from './context.ts'
import { failureLine } from './failure.ts'

/** The exit code, for cron, if a row has entries; 1 means that the command itself failed. */
const SOMETHING_WAITS = 3
/** A row counts no further. */
export const MOST_COUNTED = 10_000

/** What waits for a person: the rows that PostgreSQL knows of, as statements that find `partner_id` and `since`. */
const rows: Record<string, { next: string; find: (sql: Sql) => RawBuilder<unknown> }> = {
  'endpoints that the service paused': {
    next: 'endpoint show PARTNER',
    find: () => raw`select partner_id, since from endpoints
      where state = 'paused' and paused_by = 'service' and url is not null`,
  },
  'webhooks given up in the last 7 days': {
    next: 'delivery replay --partner PARTNER',
    // and those whose attempt cannot begin
    find: () => raw`select d.partner_id, coalesce(settled_at, next_attempt_at) as since
      from deliveries d join leads on leads.id = lead_id and erased_at is null
      where d.state = 'given_up' and settled_at > now() - interval '7 days'
        or d.state = 'pending' and fault is not null`,
  },
  'emails not sent for an hour': {
    next: 'read the log of the mail server',
    // without those that are no longer tried
    find: () => raw`select partner_id, created_at as since from leads
      where onboarding in ('sending', 'failed') and closed_at is null
        and created_at between now() - interval '8 days' and now() - interval '1 hour'
      union all select partner_id, owed_at from notices
      where sent_at is null and owed_at between now() - interval '7 days' and now() - interval '1 hour'`,
  },
  'keys in use that end within 14 days': {
    next: 'key list PARTNER',
    find: () => raw`select partner_id, greatest(created_at, expires_at - interval '14 days') as since from api_keys
      where ${isValidKey} and expires_at < now() + interval '14 days'
        and (last_used_at > now() - interval '1 day' or not exists (
          select from api_keys as longer where longer.partner_id = api_keys.partner_id and revoked_at is null
            and coalesce(longer.expires_at, 'infinity') > now() + interval '14 days'))`,
  },
  'open leads without news for a year': {
    next: 'lead list',
    find: (sql) =>
      raw`select partner_id, last_event_at as since from (${leadsWithoutNews(sql, MOST_COUNTED)}) as leads`,
  },
}

interface Row {
  row: string
  /** `null` if Temporal does not tell. */
  entries: number | null
  /** Since when the oldest of them waits. */
  since: Date | null
  partners: number[]
  next: string
}

export function addAttentionCommand(program: Command, run: Run): void {
  program
    .command('attention')
    .description(
      `what needs a person now, over all partners; exit code ${SOMETHING_WAITS} if there is something`,
    )
    .action(run(attention))
}

export async function attention(context: StaffContext) {
  const found = [await failingWorkflows(context)]
  for (const [row, { next, find }] of Object.entries(rows)) {
    const { rows: counted } = await raw<Omit<Row, 'row' | 'next'>>`
      select count(*)::int as entries, min(since) as since,
        coalesce(array_agg(distinct partner_id order by partner_id), '{}') as partners
      from (${find(context.sql)} limit ${MOST_COUNTED}) as entry`.execute(context.sql)
    found.push({ row, entries: 0, since: null, partners: [], ...counted[0], next })
  }
  return {
    json: { rows: found },
    text: table(found, {
      row: 'row',
      entries: ({ entries }) => entries ?? 'unknown',
      since: 'since',
      partners: ({ partners }) => partners.join(', '),
      next: 'next',
    }),
    ...(found.some(({ entries }) => entries !== 0 && entries !== null) && { exitCode: SOMETHING_WAITS }),
  }
}

/** Servers before 1.30 do not index which workflows have problems. */
async function failingWorkflows({ client, requireOwnNamespace, temporal }: StaffContext): Promise<Row> {
  const row = { row: 'workflows whose task fails', since: null, partners: [] }
  const failing = 'TemporalReportedProblems IS NOT NULL and ExecutionStatus = "Running"'
  try {
    await requireOwnNamespace()
    const { count } = await client.workflow.count(failing)
    return { ...row, entries: count, next: `in the Temporal Web UI: ${failing}` }
  } catch (error) {
    const why = failureLine(error, temporal.address)
    return { ...row, entries: null, next: `see the alert WorkflowsFail (${why})` }
  }
}
