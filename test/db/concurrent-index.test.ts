import { beforeEach, describe, expect, it } from '@jest/globals'
import { sql as raw } from 'kysely'
import { ConcurrentIndex } from '../../src/core/database/schema/concurrent-index.ts'
import { migrate } from '../../src/core/database/schema/migrating.ts'
import { connect, type Orm, type Sql } from '../../src/core/database/orm.ts'
import { atEnd } from '../support/at-end.ts'
import { insertLead } from '../support/insert-lead.ts'
import { addMigrations, dumping, indexBuilders } from '../support/later-migrations.ts'
import { LEAD } from '../support/leads.ts'
import { openDatabase } from '../support/open-database.ts'
import { until } from '../support/until.ts'

const INDEX = 'deliveries_state_index'

class Migration29990101000000_deliveries_by_state extends ConcurrentIndex {
  protected readonly index = INDEX
  protected readonly on = 'deliveries (state, partner_id, event_id)'
}

/** In a database where the index is still to be made. */
describe('a migration that makes an index', () => {
  let orm: Orm
  let sql: Sql
  let url: string
  let partnerId: number

  beforeEach(async () => {
    ;({ orm, sql, url, partnerId } = await openDatabase())
    await raw`drop index ${raw.id(INDEX)}`.execute(sql)
    addMigrations(orm, Migration29990101000000_deliveries_by_state)
  })

  const difference = () => orm.schema.getUpdateSchemaSQL({ wrap: false })
  const waitsForOthers = () => until(async () => (await indexBuilders(sql, `wait_event_type = 'Lock'`)) > 0)

  it('makes it while others write, though another process waits to migrate too', async () => {
    const other = await connect(url)
    atEnd(() => other.close())
    addMigrations(other, Migration29990101000000_deliveries_by_state)
    const written = Promise.withResolvers<void>()
    const writing = sql.transaction().execute(async (trx) => {
      await raw`lock table deliveries in row exclusive mode`.execute(trx)
      await written.promise
    })
    const first = migrate(orm)
    await waitsForOthers()
    const waits = Promise.withResolvers<string>()
    const second = migrate(other, { report: waits.resolve })
    expect(await waits.promise).toBe('Another process applies migrations: waiting until it has ended.')
    written.resolve()
    await writing
    expect(await Promise.all([first, second])).toEqual([1, 0])
    expect(await difference()).toBe('')
  })

  it('waits for a dump as long as it takes, because nobody waits behind it', async () => {
    const { end } = await dumping(url, 'attempts')
    const migrating = migrate(orm, { patienceMs: 0 })
    await waitsForOthers()
    // longer than any other statement of a migration waits for a lock
    await until(
      async () => (await indexBuilders(sql, `clock_timestamp() - query_start > interval '1 second'`)) > 0,
    )
    await end()
    expect(await migrating).toBe(1)
  })

  it('makes it anew where a process that was cut off left an invalid one', async () => {
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
