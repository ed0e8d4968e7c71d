import { beforeEach, describe, expect, it } from '@jest/globals'
import { sql as raw } from 'kysely'
import type { Orm } from '../../src/database/orm.ts'
import { migrate, requireSchema } from '../../src/database/schema.ts'
import type { Sql } from '../../src/database/sql.ts'
import { staff, withoutTemporal } from '../staff/context.ts'
import { openDatabase } from '../support/open-database.ts'

const OTHER = /^The database’s schema is not the one that this version needs: run npm run migrate\./

describe('the schema', () => {
  let orm: Orm
  let sql: Sql
  let url: string

  beforeEach(async () => {
    ;({ orm, sql, url } = await openDatabase())
  })

  it('has exactly the columns that the entities define; its keys, checks and indexes are its own', async () => {
    const changes = await orm.schema.getUpdateSchemaSQL({ wrap: false })
    expect(changes.replaceAll(/^(alter table \S+ drop constraint|drop index) .*$/gm, '').trim()).toBe('')
  })

  it('is migrated once, even by processes that try at the same time', async () => {
    expect(await Promise.all([migrate(orm), migrate(orm), migrate(orm)])).toEqual([0, 0, 0])
  })

  it('may be newer', async () => {
    await raw`insert into mikro_orm_migrations (name) values ('Migration29990101000000_later')`.execute(sql)
    await requireSchema(sql)
    expect(await migrate(orm)).toBe(0)
  })

  it('that lacks a migration is refused by a staff command, and not touched by a migration of another', async () => {
    await raw`update mikro_orm_migrations set name = 'Migration20250101000000_other'`.execute(sql)
    await expect(requireSchema(sql)).rejects.toThrow(OTHER)
    const { code, stderr } = await staff(withoutTemporal(url), ['partner', 'list'])
    expect([code, stderr]).toEqual([1, expect.stringMatching(OTHER)])
    await expect(migrate(orm)).rejects.toThrow('already exists')
    await raw`drop table mikro_orm_migrations`.execute(sql)
    await expect(requireSchema(sql)).rejects.toThrow(OTHER)
  })
})
