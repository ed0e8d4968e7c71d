import { beforeEach, describe, expect, it } from '@jest/globals'
import { sql as raw } from 'kysely'
import { apiPatience } from '../../src/app.ts'
import { migrate } from '../../src/core/database/migrating.ts'
import { connect, type Orm, type Sql, sqlOf } from '../../src/core/database/orm.ts'
import { insertLead } from '../support/insert-lead.ts'
import { atEnd } from '../support/at-end.ts'
import { LEAD } from '../support/leads.ts'
import { openDatabase } from '../support/open-database.ts'
import { until } from '../support/until.ts'

const INDEX = 'deliveries_state_index'

describe('the migrations', () => {
  let orm: Orm
  let sql: Sql
  let url: string
  let partnerId: number

  beforeEach(async () => {
    ;({ orm, sql, url, partnerId } = await openDatabase())
  })

  /** Takes the database back to where the index is still to be made. */
  async function withoutIndex(): Promise<void> {
    await raw`drop index ${raw.id(INDEX)}`.execute(sql)
    await raw`delete from mikro_orm_migrations where name like '%deliveries_by_state'`.execute(sql)
  }
  const difference = () => orm.schema.getUpdateSchemaSQL({ wrap: false })
  /** How many sessions of this database have a statement like `pattern` under way, or had it last. */
  const sessionsWith = async (pattern: string, condition = 'true') => {
    const { rows } = await raw`select from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and query like ${pattern}
        and ${raw.raw(condition)}`.execute(sql)
    return rows.length
  }

  it('make exactly what the entities define', async () => {
    expect(await difference()).toBe('')
  })

  it('are applied once, even by processes that try at the same time', async () => {
    expect(await Promise.all([migrate(orm), migrate(orm), migrate(orm)])).toEqual([0, 0, 0])
  })

  it('make an index while others write, though another process waits to migrate too', async () => {
    await withoutIndex()
    const other = await connect(url)
    atEnd(() => other.close())
    const written = Promise.withResolvers<void>()
    const writing = sql.transaction().execute(async (trx) => {
      await raw`lock table deliveries in row exclusive mode`.execute(trx)
      await written.promise
    })
    const first = migrate(orm)
    await until(
      async () => (await sessionsWith('create index concurrently%', `wait_event_type = 'Lock'`)) > 0,
    )
    const waits = Promise.withResolvers<string>()
    const second = migrate(other, [], { report: waits.resolve })
    expect(await waits.promise).toBe('Another process applies migrations: waiting until it has ended.')
    written.resolve()
    await writing
    expect(await Promise.all([first, second])).toEqual([1, 0])
    expect(await difference()).toBe('')
  })

  /** Takes the database back to where a column is still to be added to a table that the service uses. */
  async function withoutColumn(): Promise<void> {
    await raw`alter table attempts drop column partner_id`.execute(sql)
    await raw`delete from mikro_orm_migrations where name ~ 'attempts_(of_a|by)_partner'`.execute(sql)
  }
  /** Reads a table as a dump does, in a transaction that is open until `end`. */
  async function dumping() {
    const dumper = await connect(url, { connectMs: 2000, application: 'pg_dump' })
    atEnd(() => dumper.close())
    const [begun, ended] = [Promise.withResolvers<number>(), Promise.withResolvers<void>()]
    const dump = sqlOf(dumper)
      .transaction()
      .setIsolationLevel('repeatable read')
      .execute(async (trx) => {
        const { rows } = await raw<{ pid: number }>`
          select pg_backend_pid() as pid from (select count(*) from attempts) as all_of_them`.execute(trx)
        begun.resolve(rows[0]?.pid ?? 0)
        await ended.promise
      })
    return { pid: await begun.promise, end: async () => (ended.resolve(), dump) }
  }

  it('give way to the service while a dump reads a table that has to change, and go on after it', async () => {
    await withoutColumn()
    const { end } = await dumping()
    const service = await connect(url, apiPatience)
    atEnd(() => service.close())
    const lines: string[] = []
    const migrating = migrate(orm, [], { report: (line) => lines.push(line) })
    const read = () => raw`select count(*) from attempts`.execute(sqlOf(service))
    await until(async () => {
      // at any moment, whether the migration waits or rests
      await read()
      return lines.length > 0
    })
    expect(lines).toEqual([
      expect.stringMatching(
        /^pg_dump \(login postgres, process \d+, for \d+ s\) uses a table that has to change: trying again for 300 s\.$/,
      ),
    ])
    await end()
    expect(await migrating).toBe(2)
    expect(lines).toHaveLength(1)
    expect(await difference()).toBe('')
  })

  it('say in one line whom they waited for when they give up', async () => {
    await withoutColumn()
    const { pid, end } = await dumping()
    const migrating = migrate(orm, [], { patienceMs: 100 })
    await expect(migrating).rejects.toThrow(
      new RegExp(
        `^pg_dump \\(login postgres, process ${pid}, for \\d+ s\\) uses a table that has to change: wait until it has ended, or end it with pg_terminate_backend, then run npm run migrate again\\. What was applied stays$`,
      ),
    )
    await end()
    expect(await migrate(orm)).toBe(2)
  })

  it('wait for a dump as long as it takes where nobody waits behind them: for an index', async () => {
    await withoutIndex()
    const { end } = await dumping()
    const migrating = migrate(orm, [], { patienceMs: 0 })
    await until(
      async () => (await sessionsWith('create index concurrently%', `wait_event_type = 'Lock'`)) > 0,
    )
    // longer than any other statement of a migration waits for a lock
    await until(
      async () =>
        (await sessionsWith(
          'create index concurrently%',
          `clock_timestamp() - query_start > interval '1 second'`,
        )) > 0,
    )
    await end()
    expect(await migrating).toBe(1)
  })

  it('give attempts from before the partner of their delivery', async () => {
    const leadId = await sql.transaction().execute((trx) => insertLead(trx, partnerId, LEAD, () => '{}'))
    await withoutColumn()
    await raw`insert into attempts (id, event_id, number, trigger, endpoint_revision)
      select 'att_1', event_id, 1, 'scheduled', 1 from deliveries where lead_id = ${leadId}`.execute(sql)
    expect(await migrate(orm)).toBe(2)
    expect(await sql.selectFrom('attempts').select(['id', 'partner_id']).execute()).toEqual([
      { id: 'att_1', partner_id: partnerId },
    ])
    expect(await difference()).toBe('')
  })

  it('make an index anew of which a process that was cut off left an invalid one', async () => {
    await withoutIndex()
    for (let count = 0; count < 2; count += 1)
      await sql.transaction().execute((trx) => insertLead(trx, partnerId, LEAD, () => '{}'))
    const cutOff = raw`create unique index concurrently ${raw.id(INDEX)} on deliveries (partner_id)`
    await expect(cutOff.execute(sql)).rejects.toThrow('could not create unique index')
    expect(await migrate(orm)).toBe(1)
    const { rows } = await raw`select indisvalid, indisunique from pg_index
      where indexrelid = to_regclass(${INDEX})`.execute(sql)
    expect(rows).toEqual([{ indisvalid: true, indisunique: false }])
    expect(await difference()).toBe('')
  })
})
