import { sql as raw } from 'kysely'
import { expect, test } from '@jest/globals'
import { connectCounted, workerPatience } from '../../src/database/orm.ts'
import { isDatabaseAway } from '../../src/database/errors.ts'
import { atEnd } from '../support/at-end.ts'
import { openDatabase } from '../support/open-database.ts'

test('a transaction whose session is lost before its end gives its connection back', async () => {
  const { url, sql } = await openDatabase()
  const { orm, poolUse } = await connectCounted({ DATABASE_URL: url, DATABASE_POOL: 5 }, workerPatience)
  atEnd(() => orm.close())
  for (let time = 0; time < 25; time++) {
    const lost = orm.em.fork().transactional(async (em) => {
      const [{ pid }] = await em.execute<[{ pid: number }]>('select pg_backend_pid() as pid')
      await raw`select pg_terminate_backend(${pid})`.execute(sql)
    })
    expect(isDatabaseAway(await lost.catch((error: unknown) => error))).toBe(true)
  }
  expect(poolUse()).toMatchObject({ used: 0, waiting: 0 })
})
