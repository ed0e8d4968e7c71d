import { type RawBuilder, sql as raw } from 'kysely'
import { recordAudit } from '../../../core/audit/statements/audit.ts'
import { DAY_MS } from '../../../core/values/durations.ts'
import type { Sql } from '../../../core/database/orm.ts'
import type { Clear } from '../../../core/partners/statements/clear.ts'
import { type Ceiling, type QuotaState, takePlace } from '../../../core/partners/statements/quotas.ts'
import { MOST_RESETS_A_DAY, type ResetReview } from '../decisions/reset.ts'

/** A partner that begins again, as it sees it. */
export interface ResetState {
  requestedAt: Date
  finishedAt: Date | null
  leads: number
  left: number
  held: number
}

/** What became of a request: `quota` is what is left if it counted. */
export type ResetRequested =
  { kind: 'requested'; quota?: QuotaState; reset: ResetState } | { kind: 'too_many'; quota: QuotaState }

const RESETS: Ceiling = { name: 'reset', most: MOST_RESETS_A_DAY, seconds: DAY_MS / 1000 }

/** Leads that are to be erased are at hand at once; this many hold their locks for a tenth of a second. */
const PAGE = 100
/** Each takes calls to Temporal. */
const CHECKED_PAGE = 50

const now = raw<Date>`clock_timestamp()`

/** A request of a key. */
interface ResetRequest {
  partnerId: number
  /** As the audit names it. */
  requestedBy: string
}

/**
 * Lets a partner begin again: clears all that it has beside its leads, and notes that these are to be erased. A repeat while
 * they are being erased changes nothing, so that it clears nothing that is new.
 */
export async function requestReset(
  sql: Sql,
  { partnerId, requestedBy }: ResetRequest,
  cleared: readonly Clear[],
): Promise<ResetRequested> {
  return sql.transaction().execute(async (trx) => {
    // requests of a partner take turns
    await trx.selectFrom('partners').select('id').where('id', '=', partnerId).forNoKeyUpdate().execute()
    const running = await latestReset(trx, partnerId)
    if (running?.finishedAt === null) return { kind: 'requested', reset: running }
    const quota = await takePlace(trx, partnerId, RESETS)
    if (quota.isRefused) return { kind: 'too_many', quota }
    // before the instant up to which leads are erased: what creates them by itself is ended by then
    for (const clear of cleared) await clear(trx, partnerId)
    const { leads, held } = await countLeads(trx, partnerId)
    const counts = { leads, held }
    await trx.deleteFrom('resets').where('partner_id', '=', partnerId).execute()
    const { requestedAt } = await trx
      .insertInto('resets')
      .values({ partner_id: partnerId, requested_by: requestedBy, ...counts })
      .returning('requested_at as requestedAt')
      .executeTakeFirstOrThrow()
    await dateBack(trx, partnerId, requestedAt)
    await recordAudit(trx, requestedBy, {
      action: 'partner.reset',
      outcome: 'done',
      partnerId,
      detail: counts,
    })
    return { kind: 'requested', quota, reset: { requestedAt, finishedAt: null, left: leads, ...counts } }
  })
}

/** A lead's time may be ahead of PostgreSQL's clock, by a query's time or by what the clock was set back since. */
async function dateBack(trx: Sql, partnerId: number, to: Date): Promise<void> {
  await trx
    .updateTable('leads')
    .set({ created_at: to })
    .where('partner_id', '=', partnerId)
    .where('created_at', '>', to)
    .where('erased_at', 'is', null)
    .where('held_at', 'is', null)
    .execute()
}

async function countLeads(trx: Sql, partnerId: number) {
  return trx
    .selectFrom('leads')
    .select(raw<number>`(count(*) filter (where held_at is null))::int`.as('leads'))
    .select(raw<number>`count(held_at)::int`.as('held'))
    .where('partner_id', '=', partnerId)
    .where('erased_at', 'is', null)
    .executeTakeFirstOrThrow()
}

/** The latest time that a partner began again. */
export async function latestReset(sql: Sql, partnerId: number): Promise<ResetState | undefined> {
  const row = await sql
    .selectFrom('resets')
    .select(['requested_at as requestedAt', 'finished_at as finishedAt', 'leads', 'held'])
    .select(raw<number>`case when finished_at is null then ${leftOf(partnerId)} else 0 end`.as('left'))
    .where('partner_id', '=', partnerId)
    .executeTakeFirst()
  return row
}

/** Those that were there when the partner asked: what it makes since then is new. */
const isFromBefore = raw<boolean>`leads.created_at <= (select requested_at from resets where resets.partner_id = leads.partner_id)`
const isToErase = raw<boolean>`(leads.erased_at is null and held_at is null and ${isFromBefore})`
const isToCheck = raw<boolean>`(erasures.canceled_at is null and checked_at is null and erasures.erased_at is not null and ${isFromBefore})`

/** How many leads are not erased, or not checked. */
const leftOf = (partnerId: number): RawBuilder<number> => raw`(
  (select count(*) from leads where partner_id = ${partnerId} and ${isToErase})
  + (select count(*) from erasures join leads on leads.id = lead_id where partner_id = ${partnerId} and ${isToCheck})
)::int`

/** A reset that is not finished, with what its workflow shows; `undefined` if there is none. */
export async function reviewReset(sql: Sql, partnerId: number): Promise<ResetReview | undefined> {
  return sql
    .selectFrom('resets')
    .select(['leads', leftOf(partnerId).as('left')])
    .where('partner_id', '=', partnerId)
    .where('finished_at', 'is', null)
    .executeTakeFirst()
}

/** Leads to erase, the first after `after`, and who asked. */
export async function leadsToErase(sql: Sql, partnerId: number, after: number) {
  const rows = await sql
    .selectFrom('leads')
    .innerJoin('resets', 'resets.partner_id', 'leads.partner_id')
    .select(['leads.id', 'requested_by as requestedBy'])
    .where('leads.partner_id', '=', partnerId)
    .where('leads.id', '>', after)
    .where(isToErase)
    .orderBy('leads.id')
    .limit(PAGE)
    .execute()
  return { ids: rows.map(({ id }) => id), requestedBy: rows[0]?.requestedBy ?? '' }
}

/** Leads that are erased and not checked, the first after `after`. */
export async function leadsToCheck(sql: Sql, partnerId: number, after: number): Promise<number[]> {
  const rows = await sql
    .selectFrom('erasures')
    .innerJoin('leads', 'leads.id', 'lead_id')
    .select('lead_id')
    .where('partner_id', '=', partnerId)
    .where('lead_id', '>', after)
    .where(isToCheck)
    .orderBy('lead_id')
    .limit(CHECKED_PAGE)
    .execute()
  return rows.map(({ lead_id: leadId }) => leadId)
}

/** Finishes a reset of which nothing is left. A lead may have come late, from a request that was under way. */
export async function finishReset(sql: Sql, partnerId: number): Promise<void> {
  await sql
    .updateTable('resets')
    .set({ finished_at: now })
    .where('partner_id', '=', partnerId)
    .where('finished_at', 'is', null)
    .where(raw<boolean>`${leftOf(partnerId)} = 0`)
    .execute()
}

/** Its workflow runs at this moment. */
export async function markResetStarted(sql: Sql, partnerId: number): Promise<void> {
  await sql.updateTable('resets').set({ started_at: now }).where('partner_id', '=', partnerId).execute()
}

/** Partners whose reset has no workflow yet, or whose workflow may have been terminated. */
export async function resetsToStart(sql: Sql, limit: number): Promise<number[]> {
  const rows = await sql
    .selectFrom('resets')
    .select('partner_id')
    .where('finished_at', 'is', null)
    .where(
      raw<boolean>`coalesce(started_at, requested_at + interval '1 second' - interval '1 minute') < ${now} - interval '1 minute'`,
    )
    .orderBy(raw`started_at nulls first`)
    .limit(limit)
    .execute()
  return rows.map(({ partner_id: partnerId }) => partnerId)
}
