import { beforeEach, describe, expect, it, test } from '@jest/globals'
import { sql as raw } from 'kysely'
import { isDatabaseAway } from '../../src/database/errors.ts'
import { connect, patience } from '../../src/database/orm.ts'
import { compiledOnce, type Sql, sqlOf, takeLock } from '../../src/database/sql.ts'
import { atEnd } from '../support/at-end.ts'
import { openDatabase } from '../support/open-database.ts'

test('a query that is compiled once takes the values of each execution, and runs in its transaction', async () => {
  const { sql } = await openDatabase()
  let built = 0
  const find = compiledOnce<{ name: string }>()((query, value) => {
    built++
    return query
      .selectFrom('partners')
      .select('name')
      .where('name', '=', value('name'))
      .where('name', '<>', 'nobody')
  })
  const rename = sql.transaction().execute(async (trx) => {
    await trx.updateTable('partners').set({ name: 'Second Lender' }).execute()
    expect(await find(trx, { name: 'First Lender' })).toEqual([])
    expect(await find(trx, { name: 'Second Lender' })).toEqual([{ name: 'Second Lender' }])
    throw new Error('undone')
  })
  await expect(rename).rejects.toThrow('undone')
  expect(await find(sql, { name: 'First Lender' })).toHaveLength(1)
  expect(built).toBe(1)
})

test('a transaction whose session is lost before its end gives its connection back', async () => {
  const { url, sql } = await openDatabase()
  const orm = await connect(url, patience.worker, 2)
  atEnd(() => orm.close())
  for (let time = 0; time < 5; time++) {
    const lost = orm.em.fork().transactional(async (em) => {
      const [{ pid }] = await em.execute<[{ pid: number }]>('select pg_backend_pid() as pid')
      await raw`select pg_terminate_backend(${pid})`.execute(sql)
    })
    expect(isDatabaseAway(await lost.catch((error: unknown) => error))).toBe(true)
  }
  await raw`select 1`.execute(sqlOf(orm))
})

describe('a lock', () => {
  let sql: Sql
  /** Another process, with a short lock timeout. */
  let other: Sql
  beforeEach(async () => {
    const database = await openDatabase()
    ;({ sql } = database)
    const orm = await connect(database.url, { ...patience.staff, lockMs: 300 })
    atEnd(() => orm.close())
    other = sqlOf(orm)
  })

  it('is held by one transaction at a time, for each key', async () => {
    const take = (key: string) =>
      other.transaction().execute((another) => takeLock(another, 'mails_of_address', key))
    await sql.transaction().execute(async (trx) => {
      await takeLock(trx, 'mails_of_address', 'a')
      await expect(take('a')).rejects.toThrow('lock timeout')
      await take('b')
    })
    await take('a')
  })

  it('gives a transaction no id, because list-events would wait for it', async () => {
    await sql.transaction().execute(async (trx) => {
      await takeLock(trx, 'mails_of_address')
      const { rows } = await raw`select backend_xid from pg_stat_activity
        where pid in (select pid from pg_locks where locktype = 'advisory'
          and database = (select oid from pg_database where datname = current_database()))`.execute(other)
      expect(rows).toEqual([{ backend_xid: null }])
    })
  })
})
