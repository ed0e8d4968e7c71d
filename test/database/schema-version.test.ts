import { beforeEach, describe, expect, it } from '@jest/globals'
import { sql as raw } from 'kysely'
import { FOREIGN, migrate, otherSchema } from '../../src/database/schema-version.ts'
import type { Orm } from '../../src/database/orm.ts'
import type { Sql } from '../../src/database/sql.ts'
import { staff, withoutTemporal } from '../staff/context.ts'
import { openDatabase } from '../support/open-database.ts'

const OLDER = 'The database’s schema is older than this version needs: run npm run migrate.'

describe('the schema', () => {
  let orm: Orm
  let sql: Sql
  let url: string

  beforeEach(async () => {
    ;({ orm, sql, url } = await openDatabase())
  })

  const rename = (name: string) => raw`update mikro_orm_migrations set name = ${name}`.execute(sql)
  const partners = () => staff(withoutTemporal(url), ['partner', 'list'])

  it('may be newer', async () => {
    await raw`insert into mikro_orm_migrations (name) values ('Migration29990101000000_later')`.execute(sql)
    expect(await otherSchema(sql)).toBeUndefined()
    expect(await migrate(orm)).toBe(0)
  })

  it('that is not there yet is made by migrate, and a staff command says so', async () => {
    await raw`delete from mikro_orm_migrations`.execute(sql)
    expect(await otherSchema(sql)).toBe(OLDER)
    expect(await partners()).toEqual({ code: 1, stdout: '', stderr: `${OLDER}\n` })
    await raw`drop table mikro_orm_migrations`.execute(sql)
    expect(await otherSchema(sql)).toBe(OLDER)
  })

  it('that no migration of ours made is refused, and nothing is changed', async () => {
    await rename('Migration20250101000000_other')
    expect(await otherSchema(sql)).toBe(FOREIGN)
    await expect(migrate(orm)).rejects.toThrow(FOREIGN)
    expect(await partners()).toEqual({ code: 1, stdout: '', stderr: `${FOREIGN}\n` })
  })
})
