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

/** How often a partner may do something within any `seconds`. */
export interface Ceiling {
  name: string
  most: number
  seconds: number
}

/**
 * Takes one of a partner's places, each of which is free again `seconds` later, with the caller's transaction. The caller has
 * callers of one partner take turns.
 *
 * A place whose date no taking can have led to is from a clock that has been set back since, and counts as free.
 *
 * @returns in how many seconds there is one to take; `undefined` if it was taken.
 */
export async function takePlace(trx: Sql, partnerId: number, { name, most, seconds }: Ceiling) {
  const now = raw<Date>`clock_timestamp()`
  const until = raw<Date>`${now} + ${seconds} * interval '1 second'`
  const places = Array.from({ length: most }, (_, index) => `${name} ${index + 1}`)
  const taken = await trx
    .selectFrom('quotas')
    .select(['name', raw<number>`ceil(extract(epoch from spent_until - ${now}))::int`.as('left')])
    .where('partner_id', '=', partnerId)
    .where('name', 'in', places)
    .where('spent_until', '>', now)
    .where('spent_until', '<=', until)
    .execute()
  const free = places.find((place) => !taken.some((row) => row.name === place))
  if (free === undefined) return Math.max(1, Math.min(...taken.map(({ left }) => left)))
  await trx
    .insertInto('quotas')
    .values({ partner_id: partnerId, name: free, spent_until: until })
    .onConflict((conflict) => conflict.columns(['partner_id', 'name']).doUpdateSet({ spent_until: until }))
    .execute()
  return undefined
}
