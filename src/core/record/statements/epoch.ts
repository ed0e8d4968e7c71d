import { sql as raw } from 'kysely'
import type { Sql } from '../../database/sql.ts'

/** Epochs count seconds, the first one too, so that one that the record forgot is not given again. */
export const secondsSince2026 = raw<number>`extract(epoch from clock_timestamp() - timestamptz '2026-01-01 00:00Z')::int`

/** How many numbers are left out: those that were given before the restore, and forgotten, are among them. */
const LEADS_LEFT_OUT = 1_000_000
const IDS_LEFT_OUT = 1000
export const SEQUENCES_LEFT_OUT = 1000
/** Leads that one statement changes, so that none is so long that its connection is taken for dead. */
const BATCH = 50_000

/**
 * Begins another epoch of the record, after PostgreSQL came back with less than it had: ids and sequences skip those that
 * may have been given. A lead's workflow does nothing more before it has read the record, to which the comparison tells it; the
 * partners are told, too. In a transaction.
 *
 * @returns the epoch after it.
 */
export async function raiseEpoch(trx: Sql): Promise<number> {
  const restored_at = raw<Date>`clock_timestamp()`
  // nobody records an event of an earlier epoch after this
  await raw`lock table leads in exclusive mode`.execute(trx)
  const { epoch } = await trx
    .updateTable('deployment')
    .set({ epoch: raw<number>`greatest(epoch + 1, ${secondsSince2026})` })
    .returning('epoch')
    .executeTakeFirstOrThrow()
  const { last } = await trx
    .selectFrom('leads')
    .select((eb) => eb.fn.max('id').as('last'))
    .executeTakeFirstOrThrow()
  for (let after = 0; after < (last ?? 0); after += BATCH)
    await trx
      .updateTable('leads')
      .set((eb) => ({ next_sequence: eb('next_sequence', '+', SEQUENCES_LEFT_OUT), restored_at }))
      .where('id', '>', after)
      .where('id', '<=', after + BATCH)
      .execute()
  await trx
    .updateTable('partners')
    .set({ restored_at })
    .where(raw<boolean>`exists (select from leads where partner_id = partners.id)`)
    .execute()
  await raw`
    select setval(
      format('%I.%I', schemaname, sequencename)::regclass,
      least(max_value, coalesce(last_value, 0)
        + case when sequencename = 'leads_id_seq' then ${LEADS_LEFT_OUT}::int else ${IDS_LEFT_OUT}::int end)
    )
    from pg_sequences where schemaname = current_schema()`.execute(trx)
  return epoch
}
