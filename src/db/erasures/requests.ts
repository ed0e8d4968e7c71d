import { sql as raw } from 'kysely'
import type { ErasureReview } from '../../domain/erasure.ts'
import { recordAudit } from '../audit.ts'
import type { Sql } from '../orm.ts'

/** What became of a request: `held` says why the lead must be kept. */
export type Requested =
  | { kind: 'requested'; requestedAt: Date; dueAt: Date }
  | { kind: 'held'; reason: string }
  | { kind: 'unknown' }

/**
 * Requests the erasure of a partner's lead. A repeat changes nothing, and answers with the dates of the first request.
 *
 * @param requestedBy as the audit names it.
 */
export async function requestErasure(
  sql: Sql,
  { partnerId, leadId, reason, requestedBy, delayDays }: ErasureRequest,
): Promise<Requested> {
  return sql.transaction().execute(async (trx) => {
    const lead = await trx
      .selectFrom('leads')
      .select(['held_at', 'hold_reason'])
      .where('id', '=', leadId)
      .where('partner_id', '=', partnerId)
      .where('erased_at', 'is', null)
      .forUpdate()
      .executeTakeFirst()
    if (lead === undefined) return { kind: 'unknown' }
    if (lead.hold_reason !== null) return { kind: 'held', reason: lead.hold_reason }
    const earlier = await openErasure(trx, leadId)
    if (earlier !== undefined) return { kind: 'requested', ...earlier }
    const dueAt = raw<Date>`clock_timestamp() + ${delayDays} * interval '1 day'`
    const made = await trx
      .insertInto('erasures')
      .values({ lead_id: leadId, requested_by: requestedBy, reason, due_at: dueAt })
      .returning(['requested_at as requestedAt', 'due_at as dueAt'])
      .executeTakeFirstOrThrow()
    const detail = { reason, due_at: made.dueAt.toISOString() }
    const action = { action: 'lead.request_erasure', partnerId, leadId, detail }
    await recordAudit(trx, requestedBy, { ...action, outcome: 'done' })
    return { kind: 'requested', ...made }
  })
}

interface ErasureRequest {
  partnerId: number
  leadId: number
  reason: string | null
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
  // whoever carries it out holds this lock
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
    .select(raw<boolean>`told_at is not null`.as('isTold'))
    .where('lead_id', '=', leadId)
    .where('canceled_at', 'is', null)
    .executeTakeFirst()
}

/** What the emails about an erasure say; `undefined` once they are sent, or it is canceled. */
export async function erasureToTell(sql: Sql, leadId: number) {
  return sql
    .selectFrom('erasures')
    .innerJoin('leads', 'leads.id', 'erasures.lead_id')
    .innerJoin('partners', 'partners.id', 'leads.partner_id')
    .select(['erasures.id', 'lead_id as leadId', 'partners.id as partnerId', 'partners.name'])
    .select(['partners.contact_email as contactEmail', 'requested_by as requestedBy', 'reason'])
    .select(['requested_at as requestedAt', 'due_at as dueAt'])
    .select(raw<boolean>`due_at > clock_timestamp()`.as('isAnnounced'))
    .where('lead_id', '=', leadId)
    .where('canceled_at', 'is', null)
    .where('told_at', 'is', null)
    .executeTakeFirst()
}

export async function markTold(sql: Sql, erasureId: number): Promise<void> {
  await sql
    .updateTable('erasures')
    .set({ told_at: raw<Date>`clock_timestamp()` })
    .where('id', '=', erasureId)
    .execute()
}

export async function markErasureStarted(sql: Sql, leadId: number): Promise<void> {
  await sql
    .updateTable('erasures')
    .set({ started_at: raw<Date>`coalesce(started_at, clock_timestamp())` })
    .where('lead_id', '=', leadId)
    .where('canceled_at', 'is', null)
    .execute()
}

/**
 * Leads whose erasure has no workflow yet, or should be over by now: somebody may have terminated that. Those that wait for
 * their day, or until their hold is lifted, are left alone.
 */
export async function erasuresToStart(sql: Sql, limit: number): Promise<number[]> {
  const rows = await sql
    .selectFrom('erasures')
    .innerJoin('leads', 'leads.id', 'erasures.lead_id')
    .select('lead_id')
    .where('canceled_at', 'is', null)
    .where('checked_at', 'is', null)
    .where('held_at', 'is', null)
    .where(raw<boolean>`(started_at is null or due_at < clock_timestamp() - interval '1 minute')`)
    .orderBy('due_at')
    .limit(limit)
    .execute()
  return rows.map(({ lead_id: leadId }) => leadId)
}

/** Erasures that are requested and not carried out, the next first. */
export async function openErasures(sql: Sql) {
  return sql
    .selectFrom('erasures')
    .innerJoin('leads', 'leads.id', 'erasures.lead_id')
    .select(['lead_id', 'partner_id', 'requested_at', 'requested_by', 'reason', 'due_at', 'hold_reason'])
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
    .select(['lead_id', 'partner_id', 'requested_at', 'requested_by', 'reason', 'due_at', 'told_at'])
    .select(['canceled_at', 'erasures.erased_at', 'erased_by', 'checked_at', 'certificate'])
    .where('lead_id', '=', leadId)
    .orderBy('erasures.id', 'desc')
    .execute()
}
