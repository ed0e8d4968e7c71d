import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { compiledOnce, sqlOf } from '../../src/database/sql.ts'
import { connect, type Orm } from '../../src/database/orm.ts'
import { addPartner } from '../../src/partners/partner.ts'
import { freshDatabase } from '../support/database.ts'

describe('a query that is compiled once', () => {
  let database: Awaited<ReturnType<typeof freshDatabase>>
  let orm: Orm

  beforeAll(async () => {
    database = await freshDatabase()
    orm = await connect(database.url)
    for (const name of ['First Lender', 'Second Lender']) await addPartner(orm.em.fork(), { name })
  })

  afterAll(async () => {
    await orm.close()
    await database.drop()
  })

  it('is built at its first use only, and takes the values of each execution', async () => {
    let built = 0
    const find = compiledOnce<{ id: number; name: string }>()((sql, value) => {
      built++
      return sql
        .selectFrom('partners')
        .select(['id', 'name'])
        .where('name', '=', value('name'))
        .where('name', '<>', 'nobody')
        .where('id', '=', value('id'))
    })
    const sql = sqlOf(orm)
    expect(await find(sql, { id: 1, name: 'First Lender' })).toEqual([{ id: 1, name: 'First Lender' }])
    expect(await find(sql, { id: 2, name: 'Second Lender' })).toEqual([{ id: 2, name: 'Second Lender' }])
    expect(await find(sql, { id: 2, name: 'First Lender' })).toEqual([])
    expect(built).toBe(1)
  })

  it('runs in the transaction that it is given', async () => {
    const names = compiledOnce<{ name: string }>()((sql, value) =>
      sql.selectFrom('partners').select('name').where('name', '=', value('name')),
    )
    const inside = sqlOf(orm)
      .transaction()
      .execute(async (sql) => {
        await sql.updateTable('partners').set({ name: 'Third Lender' }).where('id', '=', 2).execute()
        expect(await names(sql, { name: 'Third Lender' })).toHaveLength(1)
        throw new Error('undone')
      })
    await expect(inside).rejects.toThrow('undone')
    expect(await names(sqlOf(orm), { name: 'Third Lender' })).toEqual([])
  })
})
