import { sql as raw } from 'kysely'
import type { Sql } from '../../src/database/sql.ts'
import { until } from './until.ts'

const LOCK_NOT_AVAILABLE = '55P03'

/**
 * Has PostgreSQL refuse each change of a lead by a constraint `no_updates_of_<lead>`, whose error has the row in it.
 *
 * @returns what ends that.
 */
export async function failsUpdates(sql: Sql, leadId: number): Promise<() => Promise<void>> {
  const name = raw.raw(`no_updates_of_${leadId}`)
  // leads of other tests do not wait for this lock
  const alter = (change: ReturnType<typeof raw>) =>
    until(() =>
      sql
        .transaction()
        .execute(async (trx) => {
          await raw`set local lock_timeout = '200ms'`.execute(trx)
          await raw`alter table leads ${change}`.execute(trx)
          return true
        })
        .catch((error: unknown) => {
          if ((error as { code?: string }).code !== LOCK_NOT_AVAILABLE) throw error
          return false
        }),
    )
  await alter(raw`add constraint ${name} check (id <> ${raw.lit(leadId)}) not valid`)
  return async () => void (await alter(raw`drop constraint ${name}`))
}
