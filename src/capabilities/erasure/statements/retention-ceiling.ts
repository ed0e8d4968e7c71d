import { sql as raw } from 'kysely'
import { RetentionHeld } from '../../../core/database/retained.ts'
import type { Sql } from '../../../core/database/orm.ts'
import { retentionCeiling } from '../decisions/retention-ceiling.ts'

/**
 * Nothing is erased in part: who confirms sees all of it first.
 *
 * @param waiting leads that a run would erase.
 * @throws {RetentionHeld} if retention would erase more leads within 24 hours than it may.
 */
export async function requireFewLeads(sql: Sql, waiting: number, mostADay: number): Promise<void> {
  if (waiting === 0) return
  const { leads, erased, confirmed } = await readErased(sql)
  // others come of age between what staff confirm and the run
  const most = retentionCeiling(mostADay, leads) + confirmed
  if (waiting + erased <= most) return
  throw new RetentionHeld(
    'ceiling',
    `Retention would erase ${waiting + erased} leads within 24 hours, and ${most} are the most, so it erases none. Look at retention show; if they are to be erased: npm run staff -- retention confirm ${waiting + erased}`,
    waiting + erased,
  )
}

/** All leads that are not erased, those that retention erased within 24 hours, and how many staff have confirmed. */
async function readErased(sql: Sql) {
  const { rows } = await raw<{ leads: number; erased: number; confirmed: number }>`
    select
      (select count(*)::int from leads where erased_at is null) as leads,
      (select count(*)::int from erasures
        where erased_by = 'retention' and erased_at > clock_timestamp() - interval '24 hours') as erased,
      coalesce((select confirmed from retention_runs
        where class = 'leads' and confirmed_until > clock_timestamp()), 0) as confirmed`.execute(sql)
  return rows[0] ?? { leads: 0, erased: 0, confirmed: 0 }
}

/** Lets retention erase so many leads more within 24 hours, for the next 24. */
export async function confirmLeads(sql: Sql, confirmed: number): Promise<void> {
  const confirming = {
    confirmed,
    confirmed_until: raw<Date>`clock_timestamp() + interval '24 hours'`,
  }
  await sql
    .insertInto('retention_runs')
    .values({ class: 'leads', ...confirming })
    .onConflict((conflict) => conflict.column('class').doUpdateSet(confirming))
    .execute()
}
