import { sql as raw } from 'kysely'
import type { Sql } from '../../../core/database/orm.ts'

/** Generations that not all workflows have taken over yet; one after the other, so the latest alone. */
export async function openRestores(sql: Sql): Promise<number[]> {
  const rows = await sql
    .selectFrom('restores')
    .select('generation')
    .where('finished_at', 'is', null)
    .orderBy('generation', 'desc')
    .limit(1)
    .execute()
  return rows.map(({ generation }) => generation)
}

/** Since when the record may lack something: the earliest of the open ones counts. */
export async function restoredUntil(sql: Sql): Promise<Date | undefined> {
  const { from, isUnknown } = await sql
    .selectFrom('restores')
    .select((eb) => eb.fn.min('reached_until').as('from'))
    .select(raw<boolean>`bool_or(reached_until is null)`.as('isUnknown'))
    .where('finished_at', 'is', null)
    .executeTakeFirstOrThrow()
  return isUnknown || from === null ? undefined : from
}

/** Ends it, and those before it, whose workflows it has taken care of. */
export async function finishRestore(sql: Sql, generation: number): Promise<void> {
  await sql
    .updateTable('restores')
    .set({ finished_at: raw<Date>`clock_timestamp()` })
    .where('generation', '<=', generation)
    .where('finished_at', 'is', null)
    .execute()
}

/** Leads after `afterId` with webhooks that are due: their workflows may believe them sent. */
export async function leadsWithDueWebhooks(sql: Sql, afterId: number, limit: number): Promise<number[]> {
  const rows = await sql
    .selectFrom('deliveries')
    .select('lead_id')
    .distinct()
    .where('lead_id', '>', afterId)
    .where('state', '=', 'pending')
    .where('next_attempt_at', '<=', raw<Date>`clock_timestamp()`)
    .orderBy('lead_id')
    .limit(limit)
    .execute()
  return rows.map(({ lead_id: leadId }) => leadId)
}

export async function listRestores(sql: Sql) {
  return sql
    .selectFrom('restores')
    .select(['generation', 'at', 'cause', 'reached_until', 'finished_at', 'seen_at'])
    .orderBy('generation')
    .execute()
}

/** Restores of which nobody has seen what was lost, the latest first, with how much is known to be. */
export async function unseenRestores(sql: Sql) {
  return sql
    .selectFrom('restores')
    .select(['generation', 'at', 'finished_at'])
    .select((eb) =>
      eb
        .selectFrom('losses')
        .select(raw<number>`count(*)::int`.as('lost'))
        .whereRef('losses.generation', '=', 'restores.generation')
        .$asScalar()
        .$notNull()
        .as('lost'),
    )
    .where('seen_at', 'is', null)
    .orderBy('generation', 'desc')
    .execute()
}

/** A person has seen what was lost by then. @returns the generations. */
export async function markSeen(sql: Sql, generation: number): Promise<number[]> {
  const seen = await sql
    .updateTable('restores')
    .set({ seen_at: raw<Date>`clock_timestamp()` })
    .where('generation', '<=', generation)
    .where('finished_at', 'is not', null)
    .where('seen_at', 'is', null)
    .returning('generation')
    .execute()
  return seen.map((row) => row.generation).toSorted((one, other) => one - other)
}

/** What was lost in restores, a partner's or everybody's: leads first. */
export async function lossesOf(sql: Sql, generations: readonly number[], partnerId?: number) {
  return sql
    .selectFrom('losses')
    .select(['generation', 'lead_id', 'partner_id', 'event_name', 'happened_at', 'is_recorded_again'])
    .where(raw<boolean>`generation = any(${generations})`)
    .$if(partnerId !== undefined, (query) => query.where('partner_id', '=', partnerId ?? 0))
    .orderBy('generation')
    .orderBy(raw`event_name is not null`)
    .orderBy('lead_id')
    .orderBy('happened_at')
    .execute()
}

/** Partners that have leads, or had some that are lost, by id. */
export async function partnersToTell(sql: Sql, generation: number) {
  return sql
    .selectFrom('partners')
    .select(['id', 'name', 'contact_email'])
    .where((eb) =>
      eb.or([
        eb.exists(eb.selectFrom('leads').select('leads.id').whereRef('partner_id', '=', 'partners.id')),
        eb.exists(
          eb
            .selectFrom('losses')
            .select('lead_id')
            .whereRef('partner_id', '=', 'partners.id')
            .where('generation', '=', generation),
        ),
      ]),
    )
    .orderBy('id')
    .execute()
}

export async function readRestore(sql: Sql, generation: number) {
  return sql
    .selectFrom('restores')
    .select(['at', 'reached_until'])
    .where('generation', '=', generation)
    .executeTakeFirstOrThrow()
}
