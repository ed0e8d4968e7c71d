import { sql as raw } from 'kysely'
import { type RetentionBrake, retentionCeiling } from '../decisions/retention.ts'
import type { Sql } from '../../../core/database/orm.ts'
import { countEndedLeads } from './leads.ts'

/** Clocks of servers that are kept right differ by less than a second. */
const MOST_APART_MS = 5 * 60 * 1000
const MINUTE_MS = 60 * 1000

/** Retention has stopped before it removed anything wrong; in one line that says what to do. */
export class RetentionHeld extends Error {
  readonly brake: RetentionBrake

  constructor(brake: RetentionBrake, message: string) {
    super(message)
    this.brake = brake
  }
}

/**
 * What is old is decided by PostgreSQL's clock, so one that jumps would make everything old.
 *
 * @param now the clock of this process, in milliseconds since the epoch.
 * @throws {RetentionHeld} if it and PostgreSQL's are minutes apart.
 */
export async function requireSameClock(sql: Sql, now: () => number): Promise<void> {
  const { rows } = await raw<{ ms: number }>`
    select (1000 * extract(epoch from clock_timestamp()))::float8 as ms`.execute(sql)
  const ahead = (rows[0]?.ms ?? Number.NaN) - now()
  if (Math.abs(ahead) <= MOST_APART_MS) return
  const minutes = Math.round(Math.abs(ahead) / MINUTE_MS)
  throw new RetentionHeld(
    'clock',
    `PostgreSQL’s clock is ${minutes} minutes ${ahead > 0 ? 'ahead of' : 'behind'} this machine’s, so nothing is removed: correct the clock that is wrong`,
  )
}

/**
 * Nothing is erased in part: who confirms sees all of it first.
 *
 * @throws {RetentionHeld} if retention would erase more leads within 24 hours than it may.
 */
export async function requireFewLeads(sql: Sql, days: number, mostADay: number): Promise<void> {
  const waiting = await countEndedLeads(sql, days)
  if (waiting === 0) return
  const { leads, erased, confirmed } = await readErased(sql)
  const most = Math.max(retentionCeiling(mostADay, leads), confirmed)
  if (waiting + erased <= most) return
  throw new RetentionHeld(
    'ceiling',
    `Retention would erase ${waiting + erased} leads within 24 hours, and ${most} are the most, so it erases none. Look at retention show; if they are to be erased: npm run staff -- retention confirm ${waiting + erased}`,
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

/** Lets retention erase so many leads within 24 hours, for the next 24. */
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
