import { sql as raw } from 'kysely'
import type { Sql } from '../orm.ts'

/** The latest attempts of each delivery, as partners are shown them. */
const ATTEMPTS = 20

/** Attempts of deliveries by event, in their order; of each delivery the latest twenty. */
export async function latestAttempts(sql: Sql, eventIds: string[]) {
  if (eventIds.length === 0) return new Map<string, never>()
  const rows = await sql
    .selectFrom((eb) =>
      eb
        .selectFrom('attempts')
        .select(['event_id', 'number', 'trigger', 'started_at', 'duration_ms', 'status'])
        .select(['error_code', 'hint'])
        .select(raw<number>`row_number() over (partition by event_id order by number desc)`.as('age'))
        .where('event_id', 'in', eventIds)
        .as('ranked'),
    )
    .selectAll()
    .where('age', '<=', ATTEMPTS)
    .orderBy('number')
    .execute()
  return Map.groupBy(rows, (row) => row.event_id)
}
