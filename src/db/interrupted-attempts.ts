import { sql as raw } from 'kysely'
import type { Sql } from './orm.ts'

/** So many attempts in a row that a crash or a deployment cut off count as one failure. */
const INTERRUPTIONS_PER_FAILURE = 3

/**
 * Closes an attempt whose process went away before it could say how it ended. That alone uses up no place in
 * the schedule; three in a row do, so that a request that kills its worker is not sent for ever.
 */
export async function closeInterrupted(trx: Sql, eventId: string): Promise<'counts' | 'free'> {
  const closed = await trx
    .updateTable('attempts')
    .set({
      finished_at: raw<Date>`clock_timestamp()`,
      error_code: 'interrupted',
      hint: 'our sender was interrupted; it is sent again',
    })
    .where('event_id', '=', eventId)
    .where('finished_at', 'is', null)
    .executeTakeFirst()
  if (closed.numUpdatedRows === 0n) return 'free'
  const latest = await trx
    .selectFrom('attempts')
    .select('error_code')
    .where('event_id', '=', eventId)
    .orderBy('number', 'desc')
    .limit(INTERRUPTIONS_PER_FAILURE * 20)
    .execute()
  const run = latest.findIndex((attempt) => attempt.error_code !== 'interrupted')
  const inARow = run === -1 ? latest.length : run
  return inARow % INTERRUPTIONS_PER_FAILURE === 0 ? 'counts' : 'free'
}
