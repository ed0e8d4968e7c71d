import { sql as raw } from 'kysely'
import type { Sql } from '../../database/orm.ts'

/** How often a partner may do something: `most` times in a row, and then once in `everySeconds`. */
export interface Quota {
  name: string
  most: number
  everySeconds: number
}

/**
 * Spends one of a partner's quota, with the caller's transaction.
 *
 * One date says how much is spent: each use moves it on by `everySeconds`, from now if it is past. One that no uses can
 * have led to is from a clock that has been set back since, and counts as past.
 *
 * @returns in how many seconds there is one to spend; `undefined` if it was spent.
 */
export async function spend(trx: Sql, partnerId: number, { name, most, everySeconds }: Quota) {
  const now = raw<Date>`clock_timestamp()`
  const all = raw`${most * everySeconds} * interval '1 second'`
  const one = raw`${everySeconds} * interval '1 second'`
  const from = raw<Date>`case when quotas.spent_until between ${now} and ${now} + ${all} then quotas.spent_until else ${now} end`
  const spent = await trx
    .insertInto('quotas')
    .values({ partner_id: partnerId, name, spent_until: raw<Date>`${now} + ${one}` })
    .onConflict((conflict) =>
      conflict
        .columns(['partner_id', 'name'])
        .doUpdateSet({ spent_until: raw<Date>`${from} + ${one}` })
        .where(raw<boolean>`${from} + ${one} <= ${now} + ${all}`),
    )
    .returning('name')
    .executeTakeFirst()
  if (spent !== undefined) return undefined
  const { seconds } = await trx
    .selectFrom('quotas')
    .select(raw<number>`ceil(extract(epoch from spent_until + ${one} - ${now} - ${all}))::int`.as('seconds'))
    .where('partner_id', '=', partnerId)
    .where('name', '=', name)
    .executeTakeFirstOrThrow()
  return Math.max(1, seconds)
}
