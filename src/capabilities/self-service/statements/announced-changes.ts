import { sql as raw } from 'kysely'
import {
  CHANGE_DELAY_HOURS,
  type EndpointChangeKind,
} from '../../../core/endpoints/decisions/endpoint-change.ts'
import { applyChange, auditChange, lockEndpointOf } from '../../../core/endpoints/statements/changes.ts'
import type { Sql } from '../../../core/database/orm.ts'

// An announced change takes effect 24 hours after the emails about it, unless it is canceled or replaced before.

/** An announced change as its workflow sees it; `undefined` once it is settled. */
export interface AnnouncedChange {
  partnerId: number
  kind: EndpointChangeKind
  /** On PostgreSQL's clock; `null` until the emails about it are sent. */
  dueInMs: number | null
}

export async function findAnnounced(sql: Sql, changeId: number): Promise<AnnouncedChange | undefined> {
  return sql
    .selectFrom('endpoint_changes')
    .innerJoin('endpoints', 'endpoints.id', 'endpoint_changes.endpoint_id')
    .select(['endpoints.partner_id as partnerId', 'kind'])
    .select(
      raw<number | null>`(extract(epoch from takes_effect_at - clock_timestamp()) * 1000)::float8`.as(
        'dueInMs',
      ),
    )
    .where('endpoint_changes.id', '=', changeId)
    .where('endpoint_changes.state', '=', 'announced')
    .executeTakeFirst()
}

/** What the emails about an announced change say; `undefined` once it is settled, or its date is set. */
export async function changeToAnnounce(sql: Sql, changeId: number) {
  return sql
    .selectFrom('endpoint_changes')
    .innerJoin('endpoints', 'endpoints.id', 'endpoint_changes.endpoint_id')
    .innerJoin('partners', 'partners.id', 'endpoints.partner_id')
    .select(['partners.id as partnerId', 'partners.name', 'partners.contact_email as contactEmail'])
    .select(['kind', 'endpoint_changes.url', 'endpoints.url as currentUrl'])
    .select(['requested_by as requestedBy', 'requested_at as requestedAt', 'overlap_hours as overlapHours'])
    .where('endpoint_changes.id', '=', changeId)
    .where('endpoint_changes.state', '=', 'announced')
    .where('takes_effect_at', 'is', null)
    .executeTakeFirst()
}

/** Announced changes that have waited an hour for their emails, the longest first. */
export async function unannouncedChanges(sql: Sql) {
  return sql
    .selectFrom('endpoint_changes')
    .innerJoin('endpoints', 'endpoints.id', 'endpoint_changes.endpoint_id')
    .select(['partner_id', 'kind', 'requested_at'])
    .where('endpoint_changes.state', '=', 'announced')
    .where('takes_effect_at', 'is', null)
    .where('requested_at', '<', raw<Date>`clock_timestamp() - interval '1 hour'`)
    .orderBy('requested_at')
    .execute()
}

/** Sets the date of an announced change, counted from now, when its emails are sent. */
export async function setDate(sql: Sql, changeId: number): Promise<void> {
  await sql.transaction().execute(async (trx) => {
    const change = await trx
      .updateTable('endpoint_changes')
      .set({ takes_effect_at: raw<Date>`clock_timestamp() + ${CHANGE_DELAY_HOURS} * interval '1 hour'` })
      .where('id', '=', changeId)
      .where('state', '=', 'announced')
      .where('takes_effect_at', 'is', null)
      .returning('endpoint_id')
      .executeTakeFirst()
    if (change !== undefined) await auditChange(trx, changeId, 'endpoint.change_announced')
  })
}

/**
 * Carries out an announced change whose date has come.
 *
 * @returns the endpoint; `undefined` if there is nothing to do.
 * @throws {SealError}
 */
export async function applyAnnounced(
  sql: Sql,
  changeId: number,
  encryptionKeys: readonly Buffer[],
): Promise<number | undefined> {
  return sql.transaction().execute(async (trx) => {
    const endpointId = await lockEndpointOf(trx, changeId)
    const due = await trx
      .selectFrom('endpoint_changes')
      .select('id')
      .where('id', '=', changeId)
      .where('state', '=', 'announced')
      .where('takes_effect_at', '<=', raw<Date>`clock_timestamp()`)
      .executeTakeFirst()
    if (due === undefined) return undefined
    await applyChange(trx, changeId, encryptionKeys)
    await auditChange(trx, changeId, 'endpoint.change_applied')
    return endpointId
  })
}

/** Announced changes, whose workflows carry them out. */
export async function announcedChanges(sql: Sql, limit: number): Promise<number[]> {
  const rows = await sql
    .selectFrom('endpoint_changes')
    .select('id')
    .where('state', '=', 'announced')
    .orderBy('id')
    .limit(limit)
    .execute()
  return rows.map(({ id }) => id)
}
