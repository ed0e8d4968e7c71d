import { defineEntity, p } from '@mikro-orm/core'
import { instant } from './database/columns.ts'
import { jsonb, pages, type Sql } from './database/sql.ts'

/** `failed`: nothing was done, or not all of it; `unknown`: it may have been done, since no answer came. */
export const auditOutcomes = ['begun', 'done', 'failed', 'unknown'] as const

/**
 * Actions of staff, of partners on their endpoints and leads, and of the service. An action that is one transaction writes one
 * row in it, `done`. Any other action has two rows: `begun` before it, and its outcome after it, which names the first by
 * `begunId`. Rows are only added; a trigger refuses everything else.
 */
export const AuditEntry = defineEntity({
  name: 'AuditEntry',
  tableName: 'audit',
  properties: {
    id: p.bigint('number').primary().generated('by default as identity'),
    at: instant().defaultRaw('clock_timestamp()'),
    /** A key, the name that staff gave, or the part of the service that acted. */
    actor: p.text(),
    action: p.text(),
    outcome: p.text().$type<(typeof auditOutcomes)[number]>(),
    begunId: p.bigint('number').nullable(),
    partnerId: p.integer().nullable(),
    leadId: p.integer().nullable(),
    detail: p.json<Record<string, unknown>>().nullable(),
    /** The login that PostgreSQL authenticated. No grant lets a session write it. */
    databaseUser: p.text().defaultRaw('session_user'),
  },
})

/** An action to audit. `detail` holds ids, settings and counts, never secrets or personal data. */
export interface AuditedAction {
  action: string
  partnerId?: number
  leadId?: number
  detail?: Record<string, unknown>
}

interface AuditRow extends AuditedAction {
  outcome: (typeof auditOutcomes)[number]
  /** The `begun` row whose result this row reports. */
  begunId?: number
}

/** Adds a row to the audit, in the transaction of what it is about. @returns its id. */
export async function recordAudit(
  sql: Sql,
  actor: string,
  { action, outcome, begunId, partnerId, leadId, detail }: AuditRow,
): Promise<number> {
  const { id } = await sql
    .insertInto('audit')
    .values({
      actor,
      action,
      outcome,
      begun_id: begunId ?? null,
      partner_id: partnerId ?? null,
      lead_id: leadId ?? null,
      detail: jsonb(detail ?? null),
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

export interface AuditFilter {
  partner?: number
  lead?: number
  actor?: string
  action?: string
  since?: Date
  until?: Date
}

function matching(sql: Sql, { partner, lead, actor, action, since, until }: AuditFilter) {
  return sql
    .selectFrom('audit')
    .selectAll()
    .$if(partner !== undefined, (query) => query.where('partner_id', '=', partner ?? 0))
    .$if(lead !== undefined, (query) => query.where('lead_id', '=', lead ?? 0))
    .$if(actor !== undefined, (query) => query.where('actor', '=', actor ?? ''))
    .$if(action !== undefined, (query) => query.where('action', '=', action ?? ''))
    .$if(since !== undefined, (query) => query.where('at', '>=', since ?? new Date()))
    .$if(until !== undefined, (query) => query.where('at', '<', until ?? new Date()))
}

/** Rows of the audit, newest first. */
export async function findAudit(sql: Sql, { limit, ...filter }: AuditFilter & { limit: number }) {
  return matching(sql, filter).orderBy('id', 'desc').limit(limit).execute()
}

/** Rows in memory at a time. */
const PAGE = 1000

/** All rows, oldest first, read in pages. */
export async function* auditRows(sql: Sql, filter: AuditFilter) {
  const read = (after: number, limit: number) =>
    matching(sql, filter).where('id', '>', after).orderBy('id').limit(limit).execute()
  for await (const page of pages(PAGE, 0, read, ({ id }) => id)) yield* page
}
