import { sql as raw } from 'kysely'
import { ERASURE_NOTICE_DAYS, type ErasureReview } from '../decisions/erasure.ts'
import type { ErasureReason, Hold } from '../../../core/leads/decisions/reasons.ts'
import { inTransaction } from '../../../core/database/in-transaction.ts'
import { recordAudit } from '../../../core/audit/statements/audit.ts'
import type { Sql } from '../../../core/database/orm.ts'
import { currentGeneration } from '../../../core/record/statements/generation.ts'

export interface ErasureDates {
  requestedAt: Date
  dueAt: Date
}

/** What became of a request: `held` says why the lead must be kept. */
export type Requested =
  ({ kind: 'requested' } & ErasureDates) | { kind: 'held'; hold: Hold } | { kind: 'unknown' }

/**
 * Requests the erasure of a partner's lead. A repeat changes nothing, and answers with the dates of the first request.
 *
 * @param requestedBy as the audit names it.
 * @param keep is called with the dates, before the audit's row is written.
 */
export async function requestErasure(
  sql: Sql,
  { partnerId, leadId, reason, requestedBy, delayDays }: ErasureRequest,
  keep: (dates: ErasureDates) => Promise<void> = async () => {},
): Promise<Requested> {
  return inTransaction(sql, async (trx) => {
    const lead = await trx
      .selectFrom('leads')
      .select(['hold_reason as reason', 'hold_reference as reference'])
      .where('id', '=', leadId)
      .where('partner_id', '=', partnerId)
      .where('erased_at', 'is', null)
      .forUpdate()
      .executeTakeFirst()
    if (lead === undefined) return { kind: 'unknown' }
    if (lead.reason !== null) return { kind: 'held', hold: { ...lead, reason: lead.reason } }
    const earlier = await openErasure(trx, leadId)
    if (earlier !== undefined) {
      await keep(earlier)
      return { kind: 'requested', ...earlier }
    }
    const dueAt = raw<Date>`clock_timestamp() + ${delayDays} * interval '1 day'`
    const made = await trx
      .insertInto('erasures')
      .values({
        lead_id: leadId,
        requested_by: requestedBy,
        reason,
        due_at: dueAt,
        is_announced: delayDays > 0,
      })
      .returning(['requested_at as requestedAt', 'due_at as dueAt'])
      .executeTakeFirstOrThrow()
    await keep(made)
    const detail = { reason, due_at: made.dueAt.toISOString() }
    const row = { action: 'lead.request_erasure', partnerId, leadId, detail }
    await recordAudit(trx, requestedBy, { ...row, outcome: 'done' })
    return { kind: 'requested', ...made }
  })
}

interface ErasureRequest {
  partnerId: number
  leadId: number
  reason: ErasureReason | null
  requestedBy: string
  delayDays: number
}

/** A lead's erasure that is requested and not carried out. */
async function openErasure(sql: Sql, leadId: number) {
  return sql
    .selectFrom('erasures')
    .select(['requested_at as requestedAt', 'due_at as dueAt'])
    .where('lead_id', '=', leadId)
    .where('canceled_at', 'is', null)
    .where('erased_at', 'is', null)
    .executeTakeFirst()
}

/** Cancels a request that is not carried out yet, in a transaction. @returns whether there was one. */
export async function cancelErasure(trx: Sql, leadId: number): Promise<boolean> {
  // the erasure holds this lock
  await trx.selectFrom('leads').select('id').where('id', '=', leadId).forUpdate().execute()
  const { numUpdatedRows } = await trx
    .updateTable('erasures')
    .set({ canceled_at: raw<Date>`clock_timestamp()` })
    .where('lead_id', '=', leadId)
    .where('canceled_at', 'is', null)
    .where('erased_at', 'is', null)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

/** Cancels all that a key asked for, by its name in the audit, and that is not carried out yet; in a transaction. */
export async function cancelErasuresOf(trx: Sql, requestedBy: string) {
  const open = openErasuresOf(trx, requestedBy).select(['leads.id', 'leads.partner_id'])
  // an erasure holds its lead
  const leads = await open.orderBy('leads.id').forUpdate('leads').execute()
  const canceled = []
  for (const lead of leads) if (await cancelErasure(trx, lead.id)) canceled.push(lead)
  return canceled
}

/** Leads whose erasure a key asked for, by its name in the audit, and that are not erased yet. */
export async function leadsToEraseFor(sql: Sql, requestedBy: string): Promise<number[]> {
  const rows = await openErasuresOf(sql, requestedBy).select('leads.id').orderBy('leads.id').execute()
  return rows.map(({ id }) => id)
}

const openErasuresOf = (sql: Sql, requestedBy: string) =>
  sql
    .selectFrom('erasures')
    .innerJoin('leads', 'leads.id', 'erasures.lead_id')
    .where('requested_by', '=', requestedBy)
    .where('canceled_at', 'is', null)
    .where('erasures.erased_at', 'is', null)

/** A lead's latest erasure, with what its workflow and its emails need; `undefined` if there is none, or it is canceled. */
export async function reviewErasure(sql: Sql, leadId: number): Promise<ErasureReview | undefined> {
  return sql
    .selectFrom('erasures')
    .innerJoin('leads', 'leads.id', 'erasures.lead_id')
    .select('leads.partner_id as partnerId')
    .select(raw<number>`(extract(epoch from due_at - clock_timestamp()) * 1000)::float8`.as('dueInMs'))
    .select(raw<boolean>`held_at is not null`.as('isHeld'))
    .select(raw<boolean>`erasures.erased_at is not null`.as('isErased'))
    .select(raw<boolean>`checked_at is not null`.as('isChecked'))
    .select('is_announced as isAnnounced')
    .select(raw<boolean>`told_at is not null`.as('isTold'))
    .where('lead_id', '=', leadId)
    .where('canceled_at', 'is', null)
    .executeTakeFirst()
}

/** Of one that is not carried out yet; the date leaves enough days to a person who is told now. */
const isWaiting = raw<boolean>`(is_announced and erasures.erased_at is null)`
const announcedDate = raw<Date>`case when ${isWaiting}
  then greatest(due_at, clock_timestamp() + ${ERASURE_NOTICE_DAYS} * interval '1 day') else due_at end`

/** What the emails about an erasure say; `undefined` once they are sent, or it is canceled. */
export async function erasureToTell(sql: Sql, leadId: number) {
  return sql
    .selectFrom('erasures')
    .innerJoin('leads', 'leads.id', 'erasures.lead_id')
    .innerJoin('partners', 'partners.id', 'leads.partner_id')
    .select(['erasures.id', 'lead_id as leadId', 'partners.id as partnerId', 'partners.name'])
    .select(['partners.contact_email as contactEmail', 'requested_by as requestedBy', 'reason'])
    .select(['requested_at as requestedAt', announcedDate.as('dueAt')])
    .select([isWaiting.as('isAnnounced'), currentGeneration.as('generation')])
    .where('lead_id', '=', leadId)
    .where('canceled_at', 'is', null)
    .where('told_at', 'is', null)
    .executeTakeFirst()
}

/** @param dueAt the date that the emails named. */
export async function markTold(sql: Sql, erasureId: number, dueAt: Date): Promise<void> {
  await sql
    .updateTable('erasures')
    .set({ told_at: raw<Date>`clock_timestamp()`, due_at: dueAt })
    .where('id', '=', erasureId)
    .execute()
}

/** Its workflow runs, or was told to look, at this moment. */
export async function markErasureStarted(sql: Sql, leadId: number): Promise<void> {
  await sql
    .updateTable('erasures')
    .set({ started_at: raw<Date>`clock_timestamp()` })
    .where('lead_id', '=', leadId)
    .where('canceled_at', 'is', null)
    .execute()
}

/** Whether its workflow was not told to look yet, or not since the lead was erased. */
export async function isErasureUnseen(sql: Sql, leadId: number): Promise<boolean> {
  const row = await sql
    .selectFrom('erasures')
    .select('id')
    .where('lead_id', '=', leadId)
    .where('canceled_at', 'is', null)
    .where(raw<boolean>`(started_at is null or started_at < erased_at)`)
    .executeTakeFirst()
  return row !== undefined
}

/**
 * Leads whose erasure has no workflow yet, or should be over, or told of, by now: its workflow may have been terminated, or
 * wait for the day of what staff have erased at once. Erasures that wait for their day, or for the end of a hold, are left
 * alone. Those that were not looked at for the longest come first, so that many failing ones hide no other.
 */
export async function erasuresToStart(sql: Sql, limit: number): Promise<number[]> {
  const rows = await sql
    .selectFrom('erasures')
    .innerJoin('leads', 'leads.id', 'erasures.lead_id')
    .select('lead_id')
    .where('canceled_at', 'is', null)
    .where('checked_at', 'is', null)
    .where('held_at', 'is', null)
    .where(
      raw<boolean>`(started_at is null or started_at < clock_timestamp() - interval '1 minute'
        and (due_at < clock_timestamp() - interval '1 minute' or is_announced and told_at is null or erasures.erased_at is not null))`,
    )
    .orderBy(raw`started_at nulls first`)
    .orderBy('due_at')
    .limit(limit)
    .execute()
  return rows.map(({ lead_id: leadId }) => leadId)
}

/** What staff are shown of a request. */
const requestColumns = [
  'lead_id',
  'partner_id',
  'requested_at',
  'requested_by',
  'reason',
  'reference',
  'due_at',
  'told_at',
] as const

/** Erasures that are requested and not carried out, the next first. */
export async function openErasures(sql: Sql) {
  return sql
    .selectFrom('erasures')
    .innerJoin('leads', 'leads.id', 'erasures.lead_id')
    .select(requestColumns)
    .select(['hold_reason', 'hold_reference'])
    .where('canceled_at', 'is', null)
    .where('erasures.erased_at', 'is', null)
    .orderBy('due_at')
    .execute()
}

/** A lead's erasures with their certificates, the latest first. */
export async function erasuresOf(sql: Sql, leadId: number) {
  return sql
    .selectFrom('erasures')
    .innerJoin('leads', 'leads.id', 'erasures.lead_id')
    .select(requestColumns)
    .select(['canceled_at', 'erasures.erased_at', 'erased_by', 'checked_at', 'certificate'])
    .where('lead_id', '=', leadId)
    .orderBy('erasures.id', 'desc')
    .execute()
}
