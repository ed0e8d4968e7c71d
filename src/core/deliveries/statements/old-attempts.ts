import { sql as raw } from 'kysely'
import type { Sql } from '../../database/sql.ts'
import { counted, type Retained } from '../../database/retained.ts'

const BATCH = 500
/** By how much the clock of a worker, which gives the ids, may be wrong. */
const SKEW = raw`interval '1 hour'`

const isOld = (days: number) => raw<boolean>`started_at < now() - ${days} * interval '1 day'`
const isFilled = raw<boolean>`(response_headers is not null or response_body is not null)`

/** The smallest id of that time: ids begin with their milliseconds, so they are in the order of time. */
function idAt(days: number) {
  const milliseconds = raw`(1000 * extract(epoch from now() - ${days} * interval '1 day' - ${SKEW}))::bigint`
  const hex = raw`lpad(to_hex(${milliseconds}), 12, '0')`
  return raw<string>`('att_' || left(${hex}, 8) || '-' || right(${hex}, 4))`
}

const doneUpTo = raw<string>`coalesce((select done_up_to from retention_runs where class = 'attempts'), '')`

/**
 * Goes through the attempts in the order of their ids and remembers how far it has come: an index of those that are still
 * full would slow down every webhook.
 */
export const oldAttempts: Retained<{ RETENTION_ATTEMPTS_DAYS: number | null }> = {
  name: 'attempts',
  meaning: 'what endpoints answered to webhooks: headers and bodies are emptied',
  days: (settings) => settings.RETENTION_ATTEMPTS_DAYS,

  count: (sql, days) =>
    counted(
      sql,
      sql
        .selectFrom('attempts')
        .select('started_at as at')
        .where('id', '>', doneUpTo)
        .where('id', '<', idAt(days))
        .where(isOld(days))
        .where(isFilled),
    ),

  async remove(sql, days) {
    return sql.transaction().execute(async (trx) => {
      const after = await takePlace(trx)
      const { rows } = await raw<{ looked: number; removed: number; last: string | null }>`
        with page as (
          select id from attempts where id > ${after} and id < ${idAt(days)} order by id limit ${BATCH}
        ), emptied as (
          update attempts set response_headers = null, response_body = null from page
          where attempts.id = page.id and ${isOld(days)} and ${isFilled} returning 1
        )
        select (select count(*)::int from page) as looked, (select max(id) from page) as last,
          (select count(*)::int from emptied) as removed`.execute(trx)
      const { looked = 0, removed = 0, last = null } = rows[0] ?? {}
      if (last !== null) {
        const place = trx.updateTable('retention_runs').set({ done_up_to: last })
        await place.where('class', '=', 'attempts').execute()
      }
      return { removed, isLast: looked < BATCH }
    })
  },
}

/** How far it has come, locked: two runs at a time take turns. */
async function takePlace(trx: Sql): Promise<string> {
  await trx
    .insertInto('retention_runs')
    .values({ class: 'attempts' })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  const { done_up_to: place } = await trx
    .selectFrom('retention_runs')
    .select('done_up_to')
    .where('class', '=', 'attempts')
    .forUpdate()
    .executeTakeFirstOrThrow()
  return place
}
