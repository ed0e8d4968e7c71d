import { type RawBuilder, sql as raw } from 'kysely'
import type { Sql } from '../../../core/database/orm.ts'
import { counted, type Retained } from './retained.ts'

const BATCH = 500

type Table = 'endpoint_pings' | 'certifications' | 'endpoint_changes' | 'endpoint_secrets'

/** Rows by their ids, whose date `at` is older than the limit and to which `condition` applies. */
function rowsOf(table: Table, at: string, condition: RawBuilder<boolean>): Retained {
  const old = (sql: Sql, days: number) =>
    sql
      .selectFrom(table)
      .where(raw<boolean>`${raw.ref(at)} < now() - ${days} * interval '1 day'`)
      .where(condition)
  return {
    count: (sql, days) => counted(sql, old(sql, days).select(raw<Date>`${raw.ref(at)}`.as('at'))),

    async remove(sql, days) {
      const ids = old(sql, days).select('id').orderBy('id').limit(BATCH)
      const { numDeletedRows } = await sql.deleteFrom(table).where('id', 'in', ids).executeTakeFirstOrThrow()
      return { removed: Number(numDeletedRows), isLast: Number(numDeletedRows) < BATCH }
    },
  }
}

/** The latest of an endpoint is shown to its partner. */
export const oldPings = rowsOf(
  'endpoint_pings',
  'finished_at',
  raw<boolean>`exists (select from endpoint_pings as later
    where later.endpoint_id = endpoint_pings.endpoint_id and later.id > endpoint_pings.id)`,
)

/** The latest of an endpoint is shown to its partner. */
export const oldCertifications = rowsOf(
  'certifications',
  'finished_at',
  raw<boolean>`exists (
    select from endpoint_changes as own join endpoint_changes as any_change on any_change.endpoint_id = own.endpoint_id
    join certifications as later on later.change_id = any_change.id
    where own.id = certifications.change_id and later.id > certifications.id)`,
)

/** Settled ones without a certification; they hold a sealed secret. */
export const oldChanges = rowsOf(
  'endpoint_changes',
  'settled_at',
  raw<boolean>`not exists (select from certifications where change_id = endpoint_changes.id)`,
)

/** They sign nothing any more. */
export const expiredSecrets = rowsOf('endpoint_secrets', 'expires_at', raw<boolean>`true`)
