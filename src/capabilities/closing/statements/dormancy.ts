import { sql as raw } from 'kysely'
import type { Fence } from '../../../core/database/locks/alone.ts'
import type { Sql } from '../../../core/database/orm.ts'
import { currentGeneration } from '../../../core/record/statements/generation.ts'
import { leadsNow } from '../../../core/leads/statements/leads-now.ts'
import { isKept } from './carry-out.ts'
import { canBeCanceled, isOpen } from './open-closing.ts'
import {
  DORMANCY,
  DORMANCY_NOTICE_DAYS,
  MOST_IN_A_DIGEST,
  STALLED_AFTER_DAYS,
} from '../decisions/dormancy.ts'

/** A partner whose leads are closed when nothing happens for so many days. */
export interface Terms {
  partnerId: number
  afterDays: number
}

/** A partner's own days, else those of the setting; 0 is never. */
const daysOf = (byDefault: number) => raw<number>`coalesce(dormant_after_days, ${byDefault}::int)`

const thisMonth = raw<string>`to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM')`

/** Partners whose leads are to be looked through. */
export async function partnersWithTerms(sql: Sql, byDefault: number): Promise<Terms[]> {
  return withTerms(sql, byDefault).execute()
}

/** Those of them that were not looked through in this month. */
export async function partnersToLookThrough(sql: Sql, byDefault: number): Promise<Terms[]> {
  return withTerms(sql, byDefault)
    .where(
      raw<boolean>`not exists (select from dormancy_digests
        where dormancy_digests.partner_id = partners.id and month = ${thisMonth})`,
    )
    .execute()
}

const withTerms = (sql: Sql, byDefault: number) =>
  sql
    .selectFrom('partners')
    .select(['id as partnerId', daysOf(byDefault).as('afterDays')])
    .where(daysOf(byDefault), '>', 0)
    .orderBy('id')

/**
 * Writes down that leads of a partner are going to be closed: those that never reached `escrow_funded`, and had no milestone
 * for so long on their own clock. A closing that was canceled keeps its lead for as long again. They have no date before
 * somebody was told.
 *
 * @param isTold there is nobody to tell: the date is set at once.
 * @returns how many.
 */
export async function findDormant(
  sql: Sql,
  { partnerId, afterDays }: Terms,
  { isTold }: { isTold: boolean },
): Promise<number> {
  const days = raw`${afterDays} * interval '1 day'`
  const { rows } = await raw<{ found: number }>`
    with found as (
    insert into closings (lead_id, requested_by, reason, is_announced, idle_since, told_at, due_at)
    select id, ${DORMANCY}, 'dormant', ${!isTold}::boolean, last_event_at,
      case when ${isTold}::boolean then clock_timestamp() end, case when ${isTold}::boolean then ${noticeEnd} end
    from leads
    where partner_id = ${partnerId} and closed_at is null and anchor_at is null and status <> 'mortgage_ready'
      and last_event_at <= ${leadsNow} - ${days}
      and not exists (
        select from closings where closings.lead_id = leads.id and (
          ${isOpen}
          or canceled_at + clock_offset * interval '1 second' > ${leadsNow} - ${days}
        )
      )
    order by id limit ${raw.lit(MOST_IN_A_DIGEST)}
    on conflict do nothing
    returning lead_id
    ), marked as (
      update leads set has_closings = true from found where leads.id = found.lead_id and not has_closings
    )
    select count(*)::int as found from found`.execute(sql)
  return rows[0]?.found ?? 0
}

/** On the lead's clock. */
const noticeEnd = raw<Date>`${leadsNow} + ${raw.lit(DORMANCY_NOTICE_DAYS)} * interval '1 day'`

/** Looks a partner's leads through for this month, unless that was done. */
export async function makeDigest(sql: Sql, terms: Terms): Promise<void> {
  await sql.transaction().execute(async (trx) => {
    const { partnerId } = terms
    const made = await trx
      .insertInto('dormancy_digests')
      .values({ partner_id: partnerId, month: thisMonth, leads: 0, sent_at: raw<Date>`clock_timestamp()` })
      .onConflict((conflict) => conflict.doNothing())
      .returning('month')
      .executeTakeFirst()
    if (made === undefined) return
    const leads = await findDormant(trx, terms, { isTold: false })
    if (leads === 0) return
    await trx
      .updateTable('dormancy_digests')
      .set({ leads, sent_at: null })
      .where('partner_id', '=', partnerId)
      .where('month', '=', thisMonth)
      .execute()
  })
}

/**
 * A digest that is to be sent, with the leads that are not kept by now; of a partner, the latest month. One that was sent is
 * sent again where a restore may have lost that leads were kept.
 */
export async function digestsToSend(sql: Sql) {
  return sql
    .selectFrom('dormancy_digests')
    .innerJoin('partners', 'partners.id', 'dormancy_digests.partner_id')
    .select(['partner_id as partnerId', 'partners.name', 'contact_email as contactEmail'])
    .select([raw<string>`max(month)`.as('month'), currentGeneration.as('generation')])
    .select(raw<Date>`clock_timestamp() + ${raw.lit(DORMANCY_NOTICE_DAYS)} * interval '1 day'`.as('closesAt'))
    .select(
      raw<number[]>`coalesce((select array_agg(lead_id order by lead_id) from ${untold}), '{}')`.as(
        'leadIds',
      ),
    )
    .where(raw<boolean>`(sent_at is null or exists (select from ${untold}))`)
    .groupBy(['partner_id', 'partners.id'])
    .orderBy('partner_id')
    .execute()
}

export type Digest = Awaited<ReturnType<typeof digestsToSend>>[number]

/** Closings of a partner's leads that wait for its email. */
const untold = raw`closings join leads on leads.id = closings.lead_id
  where leads.partner_id = partners.id and reason = 'dormant' and due_at is null and ${isOpen}
    and leads.closed_at is null and last_event_at <= idle_since and anchor_at is null`

/** Writes down that a partner was told of these leads. Those that it was not told of wait for the next month. */
export async function markDigestSent(
  sql: Sql,
  { partnerId, leadIds, closesAt }: Digest,
  fence: Fence,
): Promise<void> {
  await sql.transaction().execute(async (trx) => {
    await fence(trx)
    await trx
      .updateTable('dormancy_digests')
      .set({ sent_at: raw<Date>`clock_timestamp()` })
      .where('partner_id', '=', partnerId)
      .where('sent_at', 'is', null)
      .execute()
    await trx
      .updateTable('closings')
      .set({ told_at: raw<Date>`clock_timestamp()`, due_at: closesAt })
      .where(raw<boolean>`lead_id = any(${leadIds}::int[])`)
      .where('reason', '=', 'dormant')
      .where('due_at', 'is', null)
      .where(isOpen)
      .execute()
  })
}

/**
 * Cancels closings of leads in which something happened, so that nothing happening counts anew; and those that nobody was
 * told of yet whose partner's leads are not to be closed any more.
 */
export async function cancelKept(sql: Sql, byDefault: number): Promise<void> {
  await sql
    .updateTable('closings')
    .from(['leads', 'partners'])
    .set({ canceled_at: raw<Date>`clock_timestamp()` })
    .whereRef('leads.id', '=', 'closings.lead_id')
    .whereRef('partners.id', '=', 'leads.partner_id')
    .where(canBeCanceled)
    // one without a date has no workflow that would end it with its lead
    .where(
      raw<boolean>`(${isKept} or idle_since is not null and due_at is null
        and (leads.closed_at is not null or ${daysOf(byDefault)} = 0))`,
    )
    .execute()
}

/** Leads that were funded long ago, and are neither mortgage ready nor closed; the oldest first. */
export async function stalledLeads(sql: Sql) {
  return sql
    .selectFrom('leads')
    .select(['id as lead_id', 'partner_id', 'status', 'anchor_at as funded_at', 'last_event_at'])
    .where('closed_at', 'is', null)
    .where('status', '!=', 'mortgage_ready')
    .where('anchor_at', '<', raw<Date>`${leadsNow} - ${raw.lit(STALLED_AFTER_DAYS)} * interval '1 day'`)
    .orderBy('anchor_at')
    .orderBy('id')
    .execute()
}

/** @param days `null` for those of the setting, 0 for never. */
export async function setDormancy(trx: Sql, partnerId: number, days: number | null): Promise<void> {
  await trx.updateTable('partners').set({ dormant_after_days: days }).where('id', '=', partnerId).execute()
}
