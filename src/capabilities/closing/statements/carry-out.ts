import { sql as raw } from 'kysely'
import type { AnyCloseReason } from '../../../core/leads/decisions/reasons.ts'
import { recordAudit } from '../../../core/audit/statements/audit.ts'
import type { Sql } from '../../../core/database/orm.ts'
import { currentGeneration } from '../../../core/record/statements/generation.ts'
import { leadsNow } from '../../../core/leads/statements/leads-now.ts'
import { CLOSING_NOTICE_HOURS, type ClosingReview } from '../decisions/closing.ts'
import { isOpen } from './open-closing.ts'

/** A lead's closing that is not over, with what its workflow needs; `undefined` if there is none, or it is canceled. */
export async function reviewClosing(sql: Sql, leadId: number): Promise<ClosingReview | undefined> {
  return openWithLead(sql, leadId)
    .select('leads.partner_id as partnerId')
    .select(raw<number>`(extract(epoch from due_at - (${leadsNow})) * 1000)::float8`.as('dueInMs'))
    .select('is_announced as isAnnounced')
    .select(raw<boolean>`told_at is not null`.as('isTold'))
    .select(raw<boolean>`leads.closed_at is not null`.as('isClosed'))
    .executeTakeFirst()
}

const openWithLead = (sql: Sql, leadId: number) =>
  sql
    .selectFrom('closings')
    .innerJoin('leads', 'leads.id', 'closings.lead_id')
    .where('lead_id', '=', leadId)
    .where(isOpen)

/**
 * What to do about a lead's closing now: `close` its lead for the reason, because it has begun to be carried out, or nothing
 * more, because it is `over`: canceled, or its lead is closed. `undefined`: it is not due.
 */
export type Step = { kind: 'close'; reason: AnyCloseReason } | { kind: 'over' } | undefined

/**
 * Takes a lead's closing a step further, under the lead's lock, which a cancellation holds too: begins it once it is due,
 * and ends it once the lead is closed, whatever closed it.
 */
export async function stepClosing(sql: Sql, leadId: number): Promise<Step> {
  return sql.transaction().execute(async (trx) => {
    const lead = await trx
      .selectFrom('leads')
      .select(['partner_id as partnerId', raw<boolean>`closed_at is not null`.as('isClosed')])
      .where('id', '=', leadId)
      .forUpdate()
      .executeTakeFirst()
    const closing = await openWithLead(trx, leadId)
      .select(['closings.id', 'reason', 'requested_by as requestedBy', 'begun_at as begunAt'])
      .select(raw<boolean>`due_at <= ${leadsNow} and (told_at is not null or not is_announced)`.as('isDue'))
      .executeTakeFirst()
    // a record that was restored may lack the lead
    if (lead === undefined || closing === undefined) return { kind: 'over' }
    const { id, reason, requestedBy, begunAt } = closing
    const row = { action: 'lead.close', partnerId: lead.partnerId, leadId }
    const now = raw<Date>`clock_timestamp()`
    if (lead.isClosed) {
      await trx.updateTable('closings').set({ ended_at: now }).where('id', '=', id).execute()
      const begunId = begunAt === null ? undefined : await begunRow(trx, leadId, requestedBy)
      if (begunId !== undefined)
        await recordAudit(trx, requestedBy, { ...row, outcome: 'done', begunId, detail: { reason } })
      return { kind: 'over' }
    }
    if (!closing.isDue) return undefined
    if (begunAt === null) {
      await trx.updateTable('closings').set({ begun_at: now }).where('id', '=', id).execute()
      await recordAudit(trx, requestedBy, { ...row, outcome: 'begun', detail: { reason } })
    }
    return { kind: 'close', reason }
  })
}

/** The row of the audit that says that it began. */
async function begunRow(trx: Sql, leadId: number, actor: string): Promise<number | undefined> {
  const row = await trx
    .selectFrom('audit as begun')
    .select('begun.id')
    .where('begun.lead_id', '=', leadId)
    .where('begun.action', '=', 'lead.close')
    .where('begun.outcome', '=', 'begun')
    .where('begun.actor', '=', actor)
    .where(raw<boolean>`not exists (select from audit as ended where ended.begun_id = begun.id)`)
    .orderBy('begun.id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.id
}

/** Of one that is not carried out yet; the date leaves enough time to a person who is told now. */
const announcedDate = raw<Date>`greatest(due_at, ${leadsNow} + ${CLOSING_NOTICE_HOURS} * interval '1 hour')`

/** What the emails about a closing say; `undefined` once they are sent, or it is canceled. */
export async function closingToTell(sql: Sql, leadId: number) {
  return openWithLead(sql, leadId)
    .innerJoin('partners', 'partners.id', 'leads.partner_id')
    .select(['closings.id', 'lead_id as leadId', 'partners.id as partnerId', 'partners.name'])
    .select(['partners.contact_email as contactEmail', 'requested_by as requestedBy', 'reason'])
    .select(['requested_at as requestedAt', announcedDate.as('dueAt'), currentGeneration.as('generation')])
    .where('told_at', 'is', null)
    .where('leads.closed_at', 'is', null)
    .executeTakeFirst()
}

/** @param dueAt the date that the emails named. */
export async function markTold(sql: Sql, closing: number, dueAt: Date): Promise<void> {
  await sql
    .updateTable('closings')
    .set({ told_at: raw<Date>`clock_timestamp()`, due_at: dueAt })
    .where('id', '=', closing)
    .execute()
}

/** Its workflow runs, or was told to look, at this moment. */
export async function markClosingStarted(sql: Sql, leadId: number): Promise<void> {
  await sql
    .updateTable('closings')
    .set({ started_at: raw<Date>`clock_timestamp()` })
    .where('lead_id', '=', leadId)
    .where(isOpen)
    .execute()
}

/** Whether its workflow was not told to look yet. */
export async function isClosingUnseen(sql: Sql, leadId: number): Promise<boolean> {
  const row = await openWithLead(sql, leadId)
    .select('closings.id')
    .where('started_at', 'is', null)
    .executeTakeFirst()
  return row !== undefined
}

/**
 * Leads whose closing has no workflow yet, or should be over, or told of, by now: its
 * workflow may have been terminated. Those that were not looked at for the longest come first, so that many failing ones hide no other.
 */
export async function closingsToStart(sql: Sql, limit: number): Promise<number[]> {
  const rows = await sql
    .selectFrom('closings')
    .innerJoin('leads', 'leads.id', 'closings.lead_id')
    .select('lead_id')
    .where(isOpen)
    .where(
      raw<boolean>`(started_at is null or started_at < clock_timestamp() - interval '1 minute' and (
          due_at < ${leadsNow} - interval '1 minute' or is_announced and told_at is null
        ))`,
    )
    .orderBy(raw`started_at nulls first`)
    .orderBy('due_at')
    .limit(limit)
    .execute()
  return rows.map(({ lead_id: leadId }) => leadId)
}
