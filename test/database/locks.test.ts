import { beforeEach, describe, expect, it } from '@jest/globals'
import { sql as raw } from 'kysely'
import { isDatabaseAway } from '../../src/database/errors.ts'
import { locks, type Sql, sqlOf, takeLock } from '../../src/database/sql.ts'
import { backgroundPatience, connect } from '../../src/database/orm.ts'
import { atEnd } from '../support/at-end.ts'
import { openDatabase } from '../support/open-database.ts'
import { runToEnd } from '../support/processes.ts'
import { prepareService } from '../support/service.ts'

const LOCK_MS = 300

describe('locks', () => {
  let sql: Sql
  /** Another process, which is not patient. */
  let other: Sql
  beforeEach(async () => {
    const database = await openDatabase()
    ;({ sql } = database)
    const orm = await connect(database.url, { ...backgroundPatience, lockMs: LOCK_MS })
    atEnd(() => orm.close())
    other = sqlOf(orm)
  })

  it.each(locks)('of the name %s are held by one transaction at a time', async (lock) => {
    const take = (name: (typeof locks)[number], key?: number) =>
      other.transaction().execute((another) => takeLock(another, name, key))
    await sql.transaction().execute(async (trx) => {
      await takeLock(trx, lock, 7)
      await expect(take(lock, 7)).rejects.toThrow(`another process holds the lock "${lock}"`)
      await take(lock, 8)
      for (const free of locks.filter((name) => name !== lock)) await take(free, 7)
    })
    await take(lock, 7)
  })

  it('give a transaction no id, because list-events would wait for it', async () => {
    await sql.transaction().execute(async (trx) => {
      await takeLock(trx, 'mails_of_address', 7)
      const { rows } = await raw`select backend_xid from pg_stat_activity
        where pid in (select pid from pg_locks where locktype = 'advisory'
          and database = (select oid from pg_database where datname = current_database()))`.execute(other)
      expect(rows).toEqual([{ backend_xid: null }])
    })
  })

  it('are free again when the session that held them is gone', async () => {
    const held = other.transaction().execute(async (trx) => {
      await takeLock(trx, 'mails_of_address', 7)
      const { rows } = await raw<{ pid: number }>`select pg_backend_pid() as pid`.execute(trx)
      await raw`select pg_terminate_backend(${rows[0]?.pid})`.execute(sql)
      await raw`select 1`.execute(trx)
    })
    expect(isDatabaseAway(await held.catch((error: unknown) => error))).toBe(true)
    await sql.transaction().execute((trx) => takeLock(trx, 'mails_of_address', 7))
  })
})

describe('a worker that waits for the lock of the encryption keys', () => {
  it('says so in one line when it gives up', async () => {
    const service = await prepareService()
    const freed = Promise.withResolvers<void>()
    const held = Promise.withResolvers<void>()
    const holding = service.sql.transaction().execute(async (trx) => {
      await takeLock(trx, 'encryption_keys')
      held.resolve()
      await freed.promise
    })
    await held.promise
    const { code, stderr } = await runToEnd('src/worker.ts', service.environment)
    freed.resolve()
    await holding
    expect([code, stderr]).toEqual([
      1,
      'The encryption keys in use cannot be checked: another process holds the lock "encryption_keys". Start it again\n',
    ])
  }, 60_000)
})
