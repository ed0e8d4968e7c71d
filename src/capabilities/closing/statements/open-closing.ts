import { sql as raw } from 'kysely'
import type { AnyCloseReason } from '../../../core/leads/decisions/reasons.ts'
import type { Sql } from '../../../core/database/orm.ts'

/** Neither canceled nor over: a condition on `closings`. */
export const isOpen = raw<boolean>`closings.canceled_at is null and closings.ended_at is null`
/** Not begun to be carried out, either: it can be canceled. */
export const canBeCanceled = raw<boolean>`${isOpen} and closings.begun_at is null`

/** A lead's closing that is neither canceled nor over. */
export async function openClosing(sql: Sql, leadId: number) {
  return sql
    .selectFrom('closings')
    .select(['reason', 'requested_at as requestedAt', 'due_at as dueAt', 'begun_at as begunAt'])
    .where('lead_id', '=', leadId)
    .where(isOpen)
    .executeTakeFirst()
}

/** The same in a statement that selects from `leads`. */
export const closingOfLead = raw<{ at: string; reason: AnyCloseReason } | null>`(
  select json_build_object('at', due_at, 'reason', reason) from closings
  where lead_id = leads.id and ${isOpen}
)`

/** Closings that wait, the next first. */
export async function openClosings(sql: Sql) {
  return sql
    .selectFrom('closings')
    .innerJoin('leads', 'leads.id', 'closings.lead_id')
    .select(['lead_id', 'partner_id', 'requested_at', 'requested_by', 'reason', 'due_at', 'told_at'])
    .where(isOpen)
    .where('leads.closed_at', 'is', null)
    .orderBy('due_at')
    .orderBy('lead_id')
    .execute()
}
