import { sql as raw } from 'kysely'
import { generation } from '../migrations/initial/generation.ts'
import { type Orm, sqlOf } from '../orm.ts'

/** The last of the 51 that the first of today's migrations took the place of. */
const LAST = 'Migration20261123070100_reasons'
const INITIAL = 'Migration20261123080000_initial'

/** What the initial migration makes and they did not. */
const BEYOND_THEM = `
  alter table lead_events add column score_period int;
  update lead_events set score_period = substring(dedupe_key from '^score_update#(\\d+)$')::int
  where dedupe_key like 'score_update#%';
  alter table lead_events add constraint lead_events_score_period_check check (
    score_period is null
    or score_period >= 1 and event_name = 'score_update' and dedupe_key = 'score_update#' || score_period::text
  );
  ${generation}`

/**
 * Has a database that has all former migrations count as one that the initial migration made.
 *
 * @throws {Error} one line that says what to do if it has some of them.
 */
export async function replaceFormerMigrations(orm: Orm): Promise<void> {
  const applied = await orm.migrator.getExecuted()
  const former = applied.map(({ name }) => name).filter((name) => name < INITIAL)
  const last = former.toSorted().at(-1)
  if (last === undefined) return
  if (last !== LAST) throw new Error(tooOld(last))
  await sqlOf(orm)
    .transaction()
    .execute(async (trx) => {
      await raw.raw(BEYOND_THEM).execute(trx)
      await raw`delete from mikro_orm_migrations where name < ${INITIAL}`.execute(trx)
      await raw`insert into mikro_orm_migrations (name) values (${INITIAL})`.execute(trx)
    })
}

const tooOld = (last: string) =>
  `The database’s schema is too old for this version (its last migration is ${last}): have commit f57518a migrate it first, by npm run migrate or npm start, or start over without what it holds: npm start -- --fresh`
