import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { beforeEach, describe, expect, it } from '@jest/globals'
import { sql as raw } from 'kysely'
import { isDatabaseAway } from '../../src/core/database/database-away.ts'
import {
  keyedLocks,
  locks,
  SLOTS,
  takeKeyedLocks,
  takeLock,
  tryLock,
} from '../../src/core/database/locks/locks.ts'
import { backgroundPatience } from '../../src/core/database/mikro-orm.config.ts'
import { connect, type Sql, sqlOf } from '../../src/core/database/orm.ts'
import { atEnd } from '../support/at-end.ts'
import { openDatabase } from '../support/open-database.ts'
import { runToEnd } from '../support/processes.ts'
import { prepareService } from '../support/service.ts'
import { locksOf } from '../support/table-locks.ts'
import { until } from '../support/until.ts'

const LOCK_MS = 300
/** Beside those of keys, those that workers of an older version lock. */
const FORMER = ['slots', 'sweep', 'comparison', 'failing_workflows', 'retention', 'dormancy']
const root = path.join(import.meta.dirname, '../..')

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

  it('are each a table of their own, and those of keys have all their rows', async () => {
    const { rows: tables } = await raw<{ name: string }>`
      select relname as name from pg_class where relkind = 'r' and relname like 'lock\_%'`.execute(sql)
    expect(tables.map(({ name }) => name).toSorted()).toEqual(
      [...locks, ...FORMER].map((lock) => `lock_${lock}`).toSorted(),
    )
    const { rows: slots } = await raw`
      select lock, count(*) as slots from lock_slots group by lock order by lock`.execute(sql)
    expect(slots).toEqual(keyedLocks.toSorted().map((lock) => ({ lock, slots: SLOTS })))
  })

  it('are taken in one file, and are no advisory locks, which every login could take', () => {
    const sources = globSync(['src/**/*.ts', 'activities/**/*.ts'], { cwd: root })
    expect(sources.length).toBeGreaterThan(100)
    const faulty = sources.filter((file) => {
      const text = readFileSync(path.join(root, file), 'utf8')
      return /pg_\w*advisory\w*lock/.test(text) || /\b7_?247_?\d{3}\b/.test(text)
    })
    expect(faulty).toEqual([])
  })

  it.each(locks)('of the name %s are held by one transaction at a time', async (lock) => {
    await sql.transaction().execute(async (trx) => {
      await takeLock(trx, lock)
      const tried = await other.transaction().execute((another) => tryLock(another, lock))
      expect(tried).toBe(false)
      const taken = other.transaction().execute((another) => takeLock(another, lock))
      await expect(taken).rejects.toThrow(`another process holds the lock "${lock}"`)
      for (const free of locks.filter((name) => name !== lock))
        expect(await other.transaction().execute((another) => tryLock(another, free))).toBe(true)
    })
    expect(await other.transaction().execute((trx) => tryLock(trx, lock))).toBe(true)
  })

  it('of the same keys are taken in one order, whatever the order in which they are given', async () => {
    const both = (first: number, by: Sql) =>
      by.transaction().execute(async (trx) => {
        const keys = { mails_of_partner: 7, resends: 7 }
        await takeKeyedLocks(trx, first % 2 === 0 ? keys : { resends: 7, mails_of_partner: 7 })
        return 1
      })
    // they take turns, for which each has patience
    const taken = [0, 1, 2, 3, 4, 5].map(async (first) => both(first, sql))
    expect(await Promise.all(taken)).toHaveLength(6)
    await sql.transaction().execute(async (trx) => {
      await takeKeyedLocks(trx, { resends: 7 })
      await expect(both(0, other)).rejects.toThrow('lock timeout')
    })
  })

  it('give a transaction no id and keep no snapshot, because list-events and vacuum would wait for both', async () => {
    await sql.transaction().execute(async (trx) => {
      expect(await tryLock(trx, 'roles')).toBe(true)
      const { rows } = await raw`select backend_xid, backend_xmin from pg_stat_activity
        where pid in (select pid from ${locksOf('lock_roles')})`.execute(other)
      expect(rows).toEqual([{ backend_xid: null, backend_xmin: null }])
    })
  })

  it('are free again when the session that held them is gone', async () => {
    const held = other.transaction().execute(async (trx) => {
      await takeLock(trx, 'roles')
      await raw`select pg_terminate_backend(pid) from ${locksOf('lock_roles')}`.execute(sql)
      await raw`select 1`.execute(trx)
    })
    expect(isDatabaseAway(await held.catch((error: unknown) => error))).toBe(true)
    await until(() => sql.transaction().execute((trx) => tryLock(trx, 'roles')))
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
