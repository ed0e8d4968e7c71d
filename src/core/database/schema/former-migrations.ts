import { sql as raw } from 'kysely'
import { deleteOldReads } from '../migrations/initial/reads.ts'
import { type Orm, sqlOf } from '../orm.ts'

/** The last of the 36 that today's first migration took the place of. */
const LAST = 'Migration20261124150002_prefix_statistics'
const INITIAL = 'Migration20261126000000_initial'

/**
 * Has a database that has all former migrations count as one that the initial migration made, and gives it what they made
 * differently.
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
      const { rows } = await raw<{ schema: string }>`select quote_ident(current_schema()) as schema`.execute(
        trx,
      )
      await raw`drop function delete_old_personal_reads(int, int)`.execute(trx)
      await raw.raw(deleteOldReads(String(rows[0]?.schema))).execute(trx)
      await raw`delete from mikro_orm_migrations where name < ${INITIAL}`.execute(trx)
      await raw`insert into mikro_orm_migrations (name) values (${INITIAL})`.execute(trx)
    })
}

const tooOld = (last: string) =>
  `The database’s schema is too old for this version (its last migration is ${last}): have commit b85accb migrate it first, by npm run migrate or npm start, or start over without what it holds: npm start -- --fresh`
