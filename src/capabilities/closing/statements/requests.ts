import { sql as raw } from 'kysely'
import type { AnyCloseReason, CloseReason } from '../../../core/leads/decisions/reasons.ts'
import { recordAudit } from '../../../core/audit/statements/audit.ts'
import { inTransaction } from '../../../core/database/in-transaction.ts'
import type { Sql } from '../../../core/database/orm.ts'
import { leadsNow } from '../../../core/leads/statements/leads-now.ts'
import { canBeCanceled, openClosing } from './open-closing.ts'

/** A closing that waits, as its partner sees it. */
export interface Waiting {
  reason: AnyCloseReason
  requestedAt: Date
  dueAt: Date
}

/** What became of a request. */
export type Requested = ({ kind: 'requested' } & Waiting) | { kind: 'closed' } | { kind: 'unknown' }

interface ClosingRequest {
  partnerId: number
  leadId: number
  reason: CloseReason
  /** As the audit names it. */
  requestedBy: string
  delayHours: number
}

/**
 * Requests that a partner's lead is closed. A repeat changes nothing, and answers with the first request.
 *
 * @param keep is called with what is requested, before the audit's row.
 */
export async function requestClosing(
  sql: Sql,
  { partnerId, leadId, reason, requestedBy, delayHours }: ClosingRequest,
  keep: (waiting: Waiting) => Promise<void> = async () => {},
): Promise<Requested> {
  return inTransaction(sql, async (trx) => {
    const lead = await lockOwnLead(trx, partnerId, leadId)
    if (lead === undefined) return { kind: 'unknown' }
    if (lead.isClosed) return { kind: 'closed' }
    const earlier = await openClosing(trx, leadId)
    if (earlier?.begunAt) return { kind: 'closed' }
    if (earlier !== undefined) {
      await keep(earlier)
      return { kind: 'requested', ...earlier }
    }
    const made = await trx
      .insertInto('closings')
      .columns(['lead_id', 'requested_by', 'reason', 'due_at', 'is_announced'])
      .expression((eb) =>
        eb
          .selectFrom('leads')
          .select([
            'id',
            raw<string>`${requestedBy}`.as('requested_by'),
            raw<CloseReason>`${reason}`.as('reason'),
            raw<Date>`${leadsNow} + ${delayHours} * interval '1 hour'`.as('due_at'),
            raw<boolean>`${delayHours > 0}::boolean`.as('is_announced'),
          ])
          .where('id', '=', leadId),
      )
      .returning(['reason', 'requested_at as requestedAt', 'due_at as dueAt'])
      .executeTakeFirstOrThrow()
    await trx.updateTable('leads').set({ has_closings: true }).where('id', '=', leadId).execute()
    await keep(made)
    const detail = { reason, due_at: made.dueAt.toISOString() }
    const row = { action: 'lead.request_closing', partnerId, leadId, detail }
    await recordAudit(trx, requestedBy, { ...row, outcome: 'done' })
    return { kind: 'requested', ...made }
  })
}

/** What became of a cancellation: `open` if nothing waited, too. */
export type Canceled = { kind: 'open'; isCanceled: boolean } | { kind: 'closed' } | { kind: 'unknown' }

/** Cancels a closing of a partner's lead that is not carried out yet. */
export async function cancelOwnClosing(
  sql: Sql,
  { partnerId, leadId, canceledBy }: { partnerId: number; leadId: number; canceledBy: string },
  keep: () => Promise<void> = async () => {},
): Promise<Canceled> {
  return inTransaction(sql, async (trx) => {
    const lead = await lockOwnLead(trx, partnerId, leadId)
    if (lead === undefined) return { kind: 'unknown' }
    const isCanceled = !lead.isClosed && (await cancelLocked(trx, leadId))
    // one that has begun closes the lead within a moment
    if (lead.isClosed || (!isCanceled && (await openClosing(trx, leadId)))) return { kind: 'closed' }
    await keep()
    if (isCanceled)
      await recordAudit(trx, canceledBy, {
        action: 'lead.cancel_closing',
        outcome: 'done',
        partnerId,
        leadId,
      })
    return { kind: 'open', isCanceled }
  })
}

function lockOwnLead(trx: Sql, partnerId: number, leadId: number) {
  return trx
    .selectFrom('leads')
    .select(raw<boolean>`closed_at is not null`.as('isClosed'))
    .where('id', '=', leadId)
    .where('partner_id', '=', partnerId)
    .where('erased_at', 'is', null)
    .forUpdate()
    .executeTakeFirst()
}

/** Cancels a closing that is not carried out yet, in a transaction. @returns whether there was one. */
export async function cancelClosing(trx: Sql, leadId: number): Promise<boolean> {
  // carrying it out holds this lock
  await trx.selectFrom('leads').select('id').where('id', '=', leadId).forUpdate().execute()
  return cancelLocked(trx, leadId)
}

/** Of a lead that is locked. */
async function cancelLocked(trx: Sql, leadId: number): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable('closings')
    .set({ canceled_at: raw<Date>`clock_timestamp()` })
    .where('lead_id', '=', leadId)
    .where(canBeCanceled)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

/** Cancels all that a key asked for, by its name in the audit, and that is not carried out yet; in a transaction. */
export async function cancelClosingsOf(trx: Sql, requestedBy: string) {
  const open = openClosingsOf(trx, requestedBy).select(['leads.id', 'leads.partner_id'])
  const leads = await open.orderBy('leads.id').forUpdate('leads').execute()
  const canceled = []
  for (const lead of leads) if (await cancelClosing(trx, lead.id)) canceled.push(lead)
  return canceled
}

/** Leads that a key asked to close, by its name in the audit, and that are not closed yet. */
export async function leadsToCloseFor(sql: Sql, requestedBy: string): Promise<number[]> {
  const rows = await openClosingsOf(sql, requestedBy).select('leads.id').orderBy('leads.id').execute()
  return rows.map(({ id }) => id)
}

const openClosingsOf = (sql: Sql, requestedBy: string) =>
  sql
    .selectFrom('closings')
    .innerJoin('leads', 'leads.id', 'closings.lead_id')
    .where('requested_by', '=', requestedBy)
    .where(canBeCanceled)
    .where('leads.closed_at', 'is', null)
