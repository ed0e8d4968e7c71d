import { beforeAll, describe, expect, it } from '@jest/globals'
import { sql as raw } from 'kysely'
import { isDatabaseAway, isLockTimeout } from '../../src/database/errors.ts'
import { connect, patience, type Patience } from '../../src/database/orm.ts'
import { type Sql, sqlOf } from '../../src/database/sql.ts'
import { atEnd } from '../support/at-end.ts'
import { freshDatabase } from '../support/database.ts'
import { until } from '../support/until.ts'

const NAMES = ['idle_in_transaction_session_timeout', 'lock_timeout', 'statement_timeout']

describe('a session', () => {
  let url: string

  beforeAll(async () => {
    const database = await freshDatabase()
    ;({ url } = database)
    atEnd(() => database.drop())
  })

  async function open(limits?: Patience, address = url): Promise<Sql> {
    const orm = await connect(address, limits)
    atEnd(() => orm.close())
    return sqlOf(orm)
  }
  async function settingsOf(sql: Sql, names: string[]): Promise<Record<string, string>> {
    const { rows } = await raw<{ name: string; setting: string }>`
      select name, setting from pg_settings where name = any(${names})`.execute(sql)
    return Object.fromEntries(rows.map(({ name, setting }) => [name, setting]))
  }

  it.each([
    ['the API', patience.api, ['10000', '1000', '1200']],
    ['a worker', patience.worker, ['10000', '5000', '15000']],
    ['staff', patience.staff, ['10000', '5000', '0']],
    ['a migration', patience.migrate, ['0', '3000', '0']],
  ] as const)(
    'of %s lets PostgreSQL wait so long in a transaction, for a lock and for a statement',
    async (...row) => {
      const [, limits, expected] = row
      const settings = await settingsOf(await open(limits), NAMES)
      expect(NAMES.map((name) => settings[name])).toEqual(expected)
    },
  )

  it('keeps the settings that DATABASE_URL gives', async () => {
    const address = new URL(url)
    address.searchParams.set('lock_timeout', '77')
    address.searchParams.set('application_name', 'ours')
    const sql = await open(patience.worker, address.href)
    expect(await settingsOf(sql, ['lock_timeout', 'application_name', 'tcp_user_timeout'])).toEqual({
      lock_timeout: '77',
      application_name: 'ours',
      // by which PostgreSQL detects a dead client
      tcp_user_timeout: '25000',
    })
  })

  it('that is idle in a transaction is ended, with an error that counts as an outage', async () => {
    const sql = await open({ connectMs: 1000, idleInTransactionMs: 100 })
    const others = await open()
    const error: unknown = await sql
      .transaction()
      .execute(async (trx) => {
        const { rows } = await raw<{ pid: number }>`select pg_backend_pid() as pid`.execute(trx)
        const session = raw`select from pg_stat_activity where pid = ${rows[0]?.pid ?? 0}`
        await until(async () => (await session.execute(others)).rows.length === 0)
        await raw`select 1`.execute(trx)
      })
      .catch((reason: unknown) => reason)
    expect(isDatabaseAway(error)).toBe(true)
  })

  it('that waits too long for a lock gets an error that counts as a lock timeout and an outage', async () => {
    const holding = await open()
    const waiting = await open({ connectMs: 1000, lockMs: 50 })
    const lock = raw`lock table leads`
    const error: unknown = await holding.transaction().execute(async (trx) => {
      await lock.execute(trx)
      return waiting
        .transaction()
        .execute((other) => lock.execute(other))
        .catch((reason: unknown) => reason)
    })
    expect({ isAway: isDatabaseAway(error), isLock: isLockTimeout(error) }).toEqual({
      isAway: true,
      isLock: true,
    })
  })

  it('that seems silent is kept if only this process was held up', async () => {
    const silenceMs = 500
    const sql = await open({ connectMs: 1000, silenceMs })
    const begun = Promise.withResolvers<void>()
    const answer = sql.connection().execute(async (one) => {
      await raw`select 1`.execute(one)
      setImmediate(begun.resolve)
      return raw<{ done: number }>`select 1 as done from pg_sleep(0.1)`.execute(one)
    })
    await begun.promise
    // the query is on its way; its answer comes meanwhile
    const end = performance.now() + 2 * silenceMs
    while (performance.now() < end);
    expect((await answer).rows).toEqual([{ done: 1 }])
  })
})
