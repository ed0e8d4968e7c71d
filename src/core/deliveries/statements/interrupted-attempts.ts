import { sql as raw } from 'kysely'
import type { Sql } from '../../database/orm.ts'

/**
 * How many attempts in a row have no end, because their processes went away, with the latest; 0 when that has one.
 * All but the latest are closed as interrupted by now.
 */
export function interruptionsOf(eventId: string) {
  const ended = raw`finished_at is not null and error_code is distinct from 'interrupted'`
  return raw<number>`case
    when exists (select from attempts where event_id = ${eventId} and finished_at is null) then (
      select count(*)::int from attempts
      where event_id = ${eventId} and number > coalesce(
        (select max(number) from attempts where event_id = ${eventId} and ${ended}), 0)
    ) else 0 end`
}

/** Closes an attempt whose process went away before it could say how it ended. */
export async function closeInterrupted(trx: Sql, eventId: string): Promise<void> {
  await trx
    .updateTable('attempts')
    .set({
      finished_at: raw<Date>`clock_timestamp()`,
      error_code: 'interrupted',
      hint: 'our sender was interrupted; it is sent again',
    })
    .where('event_id', '=', eventId)
    .where('finished_at', 'is', null)
    .execute()
}
