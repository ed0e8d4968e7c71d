import { beforeAll, describe, expect, it } from '@jest/globals'
import { sql as raw } from 'kysely'
import type { Sql } from '../../src/database/sql.ts'
import { openDatabase } from '../support/open-database.ts'

const USES = 5
const MOST = 200

describe('statements that are used again and again', () => {
  let sql: Sql

  beforeAll(async () => {
    ;({ sql } = await openDatabase())
  })

  /** What PostgreSQL keeps for the connection. */
  const named = async (connection: Sql, part: string) => {
    const { rows } = await raw<{ statement: string }>`select statement from pg_prepared_statements`.execute(
      connection,
    )
    return rows.filter(({ statement }) => statement.includes(part)).length
  }

  it('get a name at the fifth use, and go on when a table that they read gets another column', async () => {
    await sql.connection().execute(async (connection) => {
      const find = () =>
        connection.selectFrom('partners').select(['id', 'name']).where('id', '=', 1).execute()
      const before = await find()
      for (let use = 2; use < USES; use += 1) await find()
      expect(await named(connection, '"partners"')).toBe(0)
      await find()
      expect(await named(connection, '"partners"')).toBe(1)
      await raw`alter table partners add column nickname text`.execute(connection)
      expect(await find()).toEqual(before)
      await raw`alter table partners drop column nickname`.execute(connection)
    })
  })

  it('get no name if they select whole rows, whose table may get another column', async () => {
    await sql.connection().execute(async (connection) => {
      const find = () => connection.selectFrom('partners').selectAll('partners').where('id', '=', 1).execute()
      for (let use = 1; use <= USES; use += 1) await find()
      await raw`alter table partners add column nickname text`.execute(connection)
      expect(await find()).toEqual([expect.objectContaining({ id: 1, nickname: null })])
      await raw`alter table partners drop column nickname`.execute(connection)
    })
  })

  it('are among the first two hundred', async () => {
    await sql.connection().execute(async (connection) => {
      for (let text = 0; text <= MOST; text += 1)
        for (let use = 1; use <= USES; use += 1)
          await raw`select ${use}::int as ${raw.ref(`text${text}`)}`.execute(connection)
      expect(await named(connection, 'text0')).toBe(1)
      expect(await named(connection, `text${MOST}`)).toBe(0)
    })
  })
})
