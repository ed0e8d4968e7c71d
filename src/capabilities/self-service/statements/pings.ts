import { sql as raw } from 'kysely'
import type { PingOutcome } from '../../../core/endpoints/decisions/endpoint.ts'
import { jsonb } from '../../../core/database/jsonb.ts'
import type { Sql } from '../../../core/database/orm.ts'

/** Requests a test request, or answers the one that is under way. The caller's transaction has the endpoint locked. */
export async function requestPing(trx: Sql, endpointId: number): Promise<{ id: number; isNew: boolean }> {
  const running = await trx
    .selectFrom('endpoint_pings')
    .select('id')
    .where('endpoint_id', '=', endpointId)
    .where('finished_at', 'is', null)
    .executeTakeFirst()
  if (running !== undefined) return { id: running.id, isNew: false }
  const { id } = await trx
    .insertInto('endpoint_pings')
    .values({ endpoint_id: endpointId })
    .returning('id')
    .executeTakeFirstOrThrow()
  return { id, isNew: true }
}

/** Where a test request goes; `undefined` if it was made. */
export async function endpointToPing(sql: Sql, pingId: number) {
  return sql
    .selectFrom('endpoint_pings')
    .innerJoin('endpoints', 'endpoints.id', 'endpoint_id')
    .select(['endpoint_id as endpointId', 'partner_id as partnerId', 'url'])
    .where('endpoint_pings.id', '=', pingId)
    .where('finished_at', 'is', null)
    .executeTakeFirst()
}

export async function finishPing(sql: Sql, pingId: number, outcome: PingOutcome): Promise<void> {
  await sql
    .updateTable('endpoint_pings')
    .set({ finished_at: raw<Date>`clock_timestamp()`, outcome: jsonb(outcome) })
    .where('id', '=', pingId)
    .where('finished_at', 'is', null)
    .execute()
}

export async function latestPing(sql: Sql, endpointId: number) {
  return sql
    .selectFrom('endpoint_pings')
    .select(['requested_at', 'finished_at', 'outcome'])
    .where('endpoint_id', '=', endpointId)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
}

/** Test requests that are not made yet. */
export async function openPings(sql: Sql, limit: number): Promise<number[]> {
  const rows = await sql
    .selectFrom('endpoint_pings')
    .select('id')
    .where('finished_at', 'is', null)
    .orderBy('id')
    .limit(limit)
    .execute()
  return rows.map(({ id }) => id)
}
