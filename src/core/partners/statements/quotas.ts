import { sql as raw } from 'kysely'
import type { Sql } from '../../database/orm.ts'

/** What is left of what a partner may do only so often. */
export interface QuotaState {
  most: number
  /** In which all of it becomes available again. */
  windowSeconds: number
  left: number
  /** In how many seconds there is one more. */
  moreInSeconds: number
}

/** What became of a use, and what is left after it. */
export interface Use extends QuotaState {
  isRefused: boolean
}

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
 */
export async function spend(trx: Sql, partnerId: number, { name, most, everySeconds }: Quota): Promise<Use> {
  const windowSeconds = most * everySeconds
  const now = raw<Date>`clock_timestamp()`
  const all = raw`${windowSeconds} * interval '1 second'`
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
    .returning(raw<number>`extract(epoch from spent_until - ${now})::float8`.as('seconds'))
    .executeTakeFirst()
  if (spent !== undefined) {
    const unspentSeconds = windowSeconds - spent.seconds
    const left = Math.floor(unspentSeconds / everySeconds)
    const moreInSeconds = Math.ceil((left + 1) * everySeconds - unspentSeconds)
    return { isRefused: false, most, windowSeconds, left, moreInSeconds }
  }
  const { seconds } = await trx
    .selectFrom('quotas')
    .select(raw<number>`ceil(extract(epoch from spent_until + ${one} - ${now} - ${all}))::int`.as('seconds'))
    .where('partner_id', '=', partnerId)
    .where('name', '=', name)
    .executeTakeFirstOrThrow()
  return { isRefused: true, most, windowSeconds, left: 0, moreInSeconds: Math.max(1, seconds) }
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
 */
export async function takePlace(trx: Sql, partnerId: number, { name, most, seconds }: Ceiling): Promise<Use> {
  const now = raw<Date>`clock_timestamp()`
  const until = raw<Date>`${now} + ${seconds} * interval '1 second'`
  const places = placesOf({ name, most })
  const taken = await trx
    .selectFrom('quotas')
    .select(['name', raw<number>`ceil(extract(epoch from spent_until - ${now}))::int`.as('left')])
    .where('partner_id', '=', partnerId)
    .where('name', 'in', places)
    .where('spent_until', '>', now)
    .where('spent_until', '<=', until)
    .execute()
  const free = places.find((place) => !taken.some((row) => row.name === place))
  const moreInSeconds = Math.max(1, Math.min(seconds, ...taken.map(({ left }) => left)))
  const state = { most, windowSeconds: seconds, moreInSeconds }
  if (free === undefined) return { ...state, isRefused: true, left: 0 }
  await trx
    .insertInto('quotas')
    .values({ partner_id: partnerId, name: free, spent_until: until })
    .onConflict((conflict) => conflict.columns(['partner_id', 'name']).doUpdateSet({ spent_until: until }))
    .execute()
  return { ...state, isRefused: false, left: most - taken.length - 1 }
}

const placesOf = ({ name, most }: Pick<Ceiling, 'name' | 'most'>) =>
  Array.from({ length: most }, (_, index) => `${name} ${index + 1}`)
