import { sql as raw } from 'kysely'
import type { Sql } from '../../database/sql.ts'

/** The latest attempts of each delivery, as partners are shown them. */
const ATTEMPTS = 20

/** Events as a table, to which the attempts of each are joined as far as they are wanted. */
export const wanted = (eventIds: string[]) =>
  raw<{ event: string }>`unnest(${eventIds}::text[])`.as<'wanted'>(raw`wanted (event)`)

/**
 * Attempts of deliveries by event, in their order; of each delivery the latest twenty, and no others are read.
 *
 * @param withBodies whether to read what the endpoint answered in full.
 */
export async function latestAttempts(sql: Sql, eventIds: string[], withBodies = false) {
  if (eventIds.length === 0) return new Map<string, never>()
  const rows = await sql
    .selectFrom(wanted(eventIds))
    .innerJoinLateral(
      (eb) =>
        eb
          .selectFrom('attempts')
          .select(['event_id', 'number', 'trigger', 'started_at', 'duration_ms', 'status'])
          .select(['error_code', 'hint', 'url', 'response_headers', 'signed_at', 'signature'])
          .$if(withBodies, (query) => query.select('response_body'))
          .whereRef('attempts.event_id', '=', 'wanted.event')
          .orderBy('number', 'desc')
          .limit(ATTEMPTS)
          .as('latest'),
      (join) => join.onTrue(),
    )
    .selectAll('latest')
    .orderBy('number')
    .execute()
  return Map.groupBy(rows, (row) => row.event_id)
}
