import { sql as raw } from 'kysely'
import type { Sql } from '../../src/core/database/orm.ts'

/** Has a database's initial migration not count as applied, but those before it, `last` being the last of them. */
export async function undoInitialMigration(
  sql: Sql,
  last = 'Migration20261124150002_prefix_statistics',
): Promise<void> {
  await raw`drop function delete_old_personal_reads(int)`.execute(sql)
  await raw`create function delete_old_personal_reads(days int, most int) returns int
    language sql as 'select most'`.execute(sql)
  await raw`update mikro_orm_migrations set name = 'Migration20261123080000_initial'
    where name = 'Migration20261126000000_initial'`.execute(sql)
  await raw`insert into mikro_orm_migrations (name) values (${last})`.execute(sql)
}
