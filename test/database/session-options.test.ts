import { existsSync, readFileSync } from 'node:fs'
import { beforeAll, describe, expect, it } from '@jest/globals'
import { sql as raw } from 'kysely'
import { apiPatience } from '../../src/app.ts'
import { isDatabaseAway, isLockTimeout } from '../../src/database/errors.ts'
import { backgroundPatience, connect, workerPatience } from '../../src/database/orm.ts'
import { type Sql, sqlOf } from '../../src/database/sql.ts'
import type { Patience } from '../../src/database/session-options.ts'
import { atEnd } from '../support/at-end.ts'
import { freshDatabase } from '../support/database.ts'
import { until } from '../support/until.ts'

const NAMES = ['idle_in_transaction_session_timeout', 'lock_timeout', 'statement_timeout']
/** Linux says there of each socket which timer runs. */
const SOCKETS = '/proc/net/tcp'
const KEEPALIVE_TIMER = '02'

describe('a session', () => {
  let url: string

  beforeAll(async () => {
    const database = await freshDatabase()
    ;({ url } = database)
    atEnd(() => database.drop())
  })

  async function open(patience?: Patience, address = url): Promise<Sql> {
    const orm = await connect(address, patience)
    atEnd(() => orm.close())
    return sqlOf(orm)
  }
  async function settingsOf(sql: Sql, names: string[]): Promise<Record<string, string>> {
    const { rows } = await raw<{ name: string; setting: string }>`
      select name, setting from pg_settings where name = any(${names})`.execute(sql)
    return Object.fromEntries(rows.map(({ name, setting }) => [name, setting]))
  }

  it.each([
    ['the API', apiPatience, ['10000', '1000', '1200']],
    ['a worker', workerPatience, ['10000', '5000', '15000']],
    ['staff', backgroundPatience, ['10000', '5000', '0']],
    ['a migration', undefined, ['0', '0', '0']],
  ] as const)(
    'of %s lets PostgreSQL wait so long in a transaction, for a lock and for a statement',
    async (...row) => {
      const [, patience, expected] = row
      const settings = await settingsOf(await open(patience), NAMES)
      expect(NAMES.map((name) => settings[name])).toEqual(expected)
    },
  )

  it('keeps the settings that DATABASE_URL gives', async () => {
    const address = new URL(url)
    address.searchParams.set('options', '-c lock_timeout=77 -c application_name=ours')
    const sql = await open(workerPatience, address.href)
    expect(await settingsOf(sql, ['lock_timeout', 'application_name', 'tcp_keepalives_idle'])).toEqual({
      lock_timeout: '77',
      application_name: 'ours',
      tcp_keepalives_idle: '10',
    })
  })

  it('is asked by both sides whether the other is still there', async () => {
    const sql = await open(workerPatience)
    const names = [
      'tcp_keepalives_idle',
      'tcp_keepalives_interval',
      'tcp_keepalives_count',
      'tcp_user_timeout',
    ]
    expect(await settingsOf(sql, names)).toEqual({
      tcp_keepalives_idle: '10',
      tcp_keepalives_interval: '5',
      tcp_keepalives_count: '3',
      tcp_user_timeout: '25000',
    })
    const { rows } = await raw<{
      client: number
      server: number
    }>`select inet_client_port() as client, inet_server_port() as server`.execute(sql)
    const { client = 0, server = 0 } = rows[0] ?? {}
    // an answer may still be on its way, with a timer of its own
    await until(async () => timersOf(client, server).every((timer) => timer === KEEPALIVE_TIMER))
    expect(timersOf(client, server)).toHaveLength(existsSync(SOCKETS) ? 2 : 0)
  })

  it('that stands still in a transaction is ended, and whoever meets that comes back', async () => {
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

  it('that waits for a lock too long is told so, and comes back', async () => {
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
})

/**
 * Which timer runs at both ends of the connection between two local ports, where the system tells. Another connection may
 * have had either of them a minute ago, and the system still waits for its packets.
 */
function timersOf(client: number, server: number): (string | undefined)[] {
  if (!existsSync(SOCKETS)) return []
  const hex = (port: number) => `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  const ends = [hex(client), hex(server)]
  return readFileSync(SOCKETS, 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, ...addresses]) =>
      ends.every((end) => addresses.slice(0, 2).some((address) => address.endsWith(end))),
    )
    .map((columns) => columns[5]?.slice(0, 2))
}
