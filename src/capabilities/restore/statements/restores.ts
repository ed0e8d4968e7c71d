import { sql as raw } from 'kysely'
import type { LostMilestone } from '../../../core/record/decisions/restore.ts'
import { currentGeneration, noteCluster } from '../../../core/record/statements/generation.ts'
import type { Sql } from '../../../core/database/orm.ts'

/** Writes down that a worker is at work: a record that went back says by this how far it reaches. */
export async function noteAlive(sql: Sql): Promise<void> {
  await sql.connection().execute(async (connection) => {
    await noteCluster({ query: async (text) => raw.raw(text).execute(connection) })
    await connection
      .updateTable('deployment')
      .set({ alive_at: raw<Date>`clock_timestamp()` })
      .execute()
  })
}

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

/** Lists a lead that is not in the record any more. */
export async function addLostLead(sql: Sql, leadId: number, partnerId: number): Promise<void> {
  await sql
    .insertInto('losses')
    .values({ ...lossOf(leadId, partnerId), dedupe_key: '', is_recorded_again: false })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/** Lists milestones that are not in the record any more, and that the lead's workflow records again. */
export async function addLostMilestones(
  sql: Sql,
  leadId: number,
  partnerId: number,
  lost: readonly LostMilestone[],
): Promise<void> {
  if (lost.length === 0) return
  const losses = lost.map(({ name, dedupeKey, at }) => ({
    ...lossOf(leadId, partnerId),
    dedupe_key: dedupeKey,
    event_name: name,
    happened_at: at === undefined ? null : new Date(at),
    is_recorded_again: true,
  }))
  await sql
    .insertInto('losses')
    .values(losses)
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

const lossOf = (leadId: number, partnerId: number) => ({
  generation: currentGeneration,
  lead_id: leadId,
  partner_id: partnerId,
})

export async function listRestores(sql: Sql) {
  return sql
    .selectFrom('restores')
    .select(['generation', 'at', 'cause', 'reached_until', 'finished_at'])
    .orderBy('generation')
    .execute()
}

/** What was lost in a generation's restore, a partner's or everybody's: leads first. */
export async function lossesOf(sql: Sql, generation: number, partnerId?: number) {
  return sql
    .selectFrom('losses')
    .select(['lead_id', 'partner_id', 'event_name', 'happened_at', 'is_recorded_again'])
    .where('generation', '=', generation)
    .$if(partnerId !== undefined, (query) => query.where('partner_id', '=', partnerId ?? 0))
    .orderBy(raw`event_name is not null`)
    .orderBy('lead_id')
    .orderBy('happened_at')
    .execute()
}

/** Partners after `afterId` that have leads, or had some that are lost. */
export async function partnersToTell(sql: Sql, generation: number, afterId: number) {
  return sql
    .selectFrom('partners')
    .select(['id', 'name', 'contact_email'])
    .where('id', '>', afterId)
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
