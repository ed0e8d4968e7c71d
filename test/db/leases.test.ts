import { setTimeout as delay } from 'node:timers/promises'
import { beforeEach, describe, expect, it, jest } from '@jest/globals'
import { sql as raw } from 'kysely'
import { alone, type Fence } from '../../src/core/database/locks/alone.ts'
import {
  LEASE_MS,
  LeaseLost,
  leases,
  releaseLease,
  renewLease,
  requireLease,
  takeLease,
} from '../../src/core/database/locks/leases.ts'
import { backgroundPatience } from '../../src/core/database/mikro-orm.config.ts'
import { connect, type Sql, sqlOf } from '../../src/core/database/orm.ts'
import { atEnd } from '../support/at-end.ts'
import { openDatabase } from '../support/open-database.ts'
import { until } from '../support/until.ts'

describe('a lease', () => {
  let url: string
  let sql: Sql
  /** Another process. */
  let other: Sql

  beforeEach(async () => {
    const database = await openDatabase()
    ;({ sql, url } = database)
    const orm = await connect(url, backgroundPatience)
    atEnd(() => orm.close())
    other = sqlOf(orm)
  })

  /** As if PostgreSQL's clock had been put forward by so much, or back. */
  const moveClock = (ms: number) =>
    raw`update leases set until = until - ${ms} * interval '1 millisecond'`.execute(sql)
  async function taken(by: Sql) {
    const lease = await takeLease(by, 'sweep')
    if (lease === undefined) throw new Error('somebody has it')
    return lease
  }
  const secondsLeft = async () => {
    const { rows } = await raw<{ left: number }>`
      select extract(epoch from until - clock_timestamp())::float8 as left from leases where name = 'sweep'`.execute(
      sql,
    )
    return rows[0]?.left ?? 0
  }

  it('is there for each job', async () => {
    const rows = await sql.selectFrom('leases').select('name').execute()
    expect(rows.map(({ name }) => name).toSorted()).toEqual(leases.toSorted())
  })

  it('is had by one of many who want it at the same time', async () => {
    const wanted = Array.from({ length: 20 }, (_, index) => takeLease(index % 2 === 0 ? sql : other, 'sweep'))
    expect((await Promise.all(wanted)).filter((lease) => lease !== undefined)).toHaveLength(1)
    expect(await takeLease(sql, 'retention')).toBeDefined()
  })

  it('is had by one of many whose login keeps a snapshot', async () => {
    const address = new URL(url)
    address.searchParams.set('options', '-c default_transaction_isolation=repeatable\\ read')
    const orm = await connect(address.href)
    atEnd(() => orm.close())
    for (let round = 0; round < 10; round += 1) {
      const wanted = Array.from({ length: 10 }, () => takeLease(sqlOf(orm), 'sweep'))
      const [lease, ...more] = (await Promise.all(wanted)).filter((one) => one !== undefined)
      expect(more).toEqual([])
      if (lease === undefined) throw new Error('nobody has it')
      expect(await releaseLease(sqlOf(orm), lease)).toBe(true)
    }
  })

  it('is free for others as soon as it is released', async () => {
    expect(await alone(sql, 'sweep', () => alone(other, 'sweep', async () => 2))).toBe(0)
    expect(await alone(other, 'sweep', async () => 3)).toBe(3)
  })

  it('is released when the work fails', async () => {
    const failing = alone(sql, 'sweep', () => Promise.reject(new Error('Temporal is away')))
    await expect(failing).rejects.toThrow('Temporal is away')
    expect(await alone(other, 'sweep', async () => 1)).toBe(1)
  })

  it('of a process that was killed is taken over after ten seconds', async () => {
    await taken(sql)
    expect(await secondsLeft()).toBeGreaterThan(LEASE_MS / 1000 - 5)
    expect(await secondsLeft()).toBeLessThanOrEqual(LEASE_MS / 1000)
    // what is left of it, a busy machine may take for the next statements
    await moveClock(LEASE_MS - 5000)
    expect(await takeLease(other, 'sweep')).toBeUndefined()
    await moveClock(5000)
    expect(await takeLease(other, 'sweep')).toBeDefined()
  })

  it('is kept for as long as the work takes, without a connection', async () => {
    const idle = raw`select from pg_stat_activity
      where datname = current_database() and state = 'idle in transaction'`
    await alone(sql, 'sweep', async () => {
      await moveClock(LEASE_MS / 2)
      await until(async () => (await secondsLeft()) > LEASE_MS / 1000 - 1)
      expect((await idle.execute(other)).rows).toEqual([])
      return 1
    })
  })

  it('that somebody took over is neither renewed nor released by whoever had it before', async () => {
    const lost = await taken(sql)
    await moveClock(LEASE_MS)
    const lease = await taken(other)
    const before = await secondsLeft()
    await delay(20)
    await renewLease(sql, lost)
    expect(await secondsLeft()).toBeLessThan(before)
    expect(await releaseLease(sql, lost)).toBe(false)
    expect(await releaseLease(other, lease)).toBe(true)
  })

  it('is not brought back by a renewal that comes after its release', async () => {
    const lease = await taken(sql)
    await releaseLease(sql, lease)
    await renewLease(sql, lease)
    expect(await takeLease(other, 'sweep')).toBeDefined()
  })

  it('refuses what a process writes that was frozen, and says so at the end of its work', async () => {
    const thawed = Promise.withResolvers<void>()
    const fences: Fence[] = []
    const frozen = alone(sql, 'retention', async (fence) => {
      fences.push(fence)
      await thawed.promise
      return 1
    })
    await until(async () => fences.length > 0)
    await moveClock(LEASE_MS)
    await alone(other, 'retention', async () => {
      const writing = sql.transaction().execute(async (trx) => {
        await fences[0]?.(trx)
        await trx.updateTable('partners').set({ name: 'Written too late' }).execute()
      })
      await expect(writing).rejects.toThrow(LeaseLost)
      thawed.resolve()
      await expect(frozen).rejects.toThrow(
        'the lease "retention" ran out before the work was done: another process goes on with it',
      )
      return 1
    })
    const names = await sql.selectFrom('partners').select('name').execute()
    expect(names).toEqual([{ name: 'First Lender' }])
  })

  it('is not taken over, and nobody waits for it, while a transaction that its holder may end has passed the fence', async () => {
    const lease = await taken(sql)
    await sql.transaction().execute(async (trx) => {
      await requireLease(trx, lease)
      await moveClock(LEASE_MS)
      expect(await takeLease(other, 'sweep')).toBeUndefined()
      // its holder renews it meanwhile
      await renewLease(other, lease)
    })
    await moveClock(LEASE_MS)
    expect(await takeLease(other, 'sweep')).toBeDefined()
  })

  it('is not kept for long by a clock that was put back by an hour, nor lost by one that was by a second', async () => {
    await taken(sql)
    await moveClock(-1000)
    expect(await takeLease(other, 'sweep')).toBeUndefined()
    await moveClock(-3_600_000)
    expect(await takeLease(other, 'sweep')).toBeDefined()
  })

  it('that cannot be released is reported, and runs out', async () => {
    const warned = jest.fn()
    const working = alone(sql, 'sweep', async () => {
      await raw`alter table leases rename to leases_away`.execute(sql)
      return 1
    })
    await working.catch(warned)
    expect(warned).toHaveBeenCalledTimes(1)
    await raw`alter table leases_away rename to leases`.execute(sql)
    expect(await takeLease(other, 'sweep')).toBeUndefined()
    await moveClock(LEASE_MS)
    expect(await takeLease(other, 'sweep')).toBeDefined()
  })
})
