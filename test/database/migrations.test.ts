import { beforeEach, describe, expect, it } from '@jest/globals'
import { migrate } from '../../src/database/schema-version.ts'
import type { Orm } from '../../src/database/orm.ts'
import { openDatabase } from '../support/open-database.ts'

describe('the migrations', () => {
  let orm: Orm

  beforeEach(async () => {
    ;({ orm } = await openDatabase())
  })

  it('make exactly what the entities define', async () => {
    expect(await orm.schema.getUpdateSchemaSQL({ wrap: false })).toBe('')
  })

  it('are applied once, even by processes that try at the same time', async () => {
    expect(await Promise.all([migrate(orm), migrate(orm), migrate(orm)])).toEqual([0, 0, 0])
  })
})
