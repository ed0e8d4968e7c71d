import { sql as raw } from 'kysely'
import type { Sql } from '../../src/core/database/orm.ts'

/** Has a database's initial migration not count as applied, but those before it, `last` being the last of them. */
export async function undoInitialMigration(
  sql: Sql,
  last = 'Migration20261123070100_reasons',
): Promise<void> {
  await raw`alter table lead_events drop column score_period`.execute(sql)
  await raw`drop function note_cluster, raise_generation, next_generation, current_cluster`.execute(sql)
  await raw`update mikro_orm_migrations set name = 'Migration20261121000000_initial'
    where name = 'Migration20261123080000_initial'`.execute(sql)
  await raw`insert into mikro_orm_migrations (name) values (${last})`.execute(sql)
}
