import { sql as raw } from 'kysely'
import type { Sql } from '../../database/orm.ts'

/**
 * Forgets the addresses of mails that are not counted any more, `limit` at most. Two processes at a time take different
 * ones.
 *
 * @returns how many.
 */
export async function forgetMailedAddresses(sql: Sql, limit: number): Promise<number> {
  const { numAffectedRows } = await raw`
    update onboarding_mails set address_hash = null where lead_id = any (array(
      select lead_id from onboarding_mails
      where address_hash is not null and claimed_at < clock_timestamp() - interval '24 hours'
      order by claimed_at limit ${limit} for update skip locked))`.execute(sql)
  return Number(numAffectedRows ?? 0)
}
