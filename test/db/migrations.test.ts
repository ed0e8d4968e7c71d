import { beforeEach, describe, expect, it } from '@jest/globals'
import { Migration } from '@mikro-orm/migrations'
import { sql as raw } from 'kysely'
import { apiPatience } from '../../src/app.ts'
import { ConcurrentIndex } from '../../src/core/database/schema/concurrent-index.ts'
import { migrate } from '../../src/core/database/schema/migrating.ts'
import { connect, type Orm, type Sql, sqlOf } from '../../src/core/database/orm.ts'
import { atEnd } from '../support/at-end.ts'
import { addMigrations, dumping } from '../support/later-migrations.ts'
import { openDatabase } from '../support/open-database.ts'
import { until } from '../support/until.ts'

class Migration29990101000000_attempts_of_a_partner extends Migration {
  override up(): void {
    this.addSql('alter table attempts add column partner_id int not null')
  }
}

class Migration29990101000001_attempts_by_partner extends ConcurrentIndex {
  protected readonly index = 'attempts_partner_id_index'
  protected readonly on = 'attempts (partner_id, id)'
}

describe('the migrations', () => {
  let orm: Orm
  let sql: Sql
  let url: string

  beforeEach(async () => {
    ;({ orm, sql, url } = await openDatabase())
  })

  const difference = () => orm.schema.getUpdateSchemaSQL({ wrap: false })

  it('make exactly what the entities define', async () => {
    expect(await difference()).toBe('')
  })

  it('are applied once, even by processes that try at the same time', async () => {
    expect(await Promise.all([migrate(orm), migrate(orm), migrate(orm)])).toEqual([0, 0, 0])
  })

  /** Takes the database back to where a column is still to be added to a table that the service uses. */
  async function withoutColumn(): Promise<void> {
    await raw`alter table attempts drop column partner_id`.execute(sql)
    addMigrations(
      orm,
      Migration29990101000000_attempts_of_a_partner,
      Migration29990101000001_attempts_by_partner,
    )
  }

  it('give way to the service while a dump reads a table that has to change, and go on after it', async () => {
    await withoutColumn()
    const { end } = await dumping(url, 'attempts')
    const service = await connect(url, apiPatience)
    atEnd(() => service.close())
    const lines: string[] = []
    const migrating = migrate(orm, { report: (line) => lines.push(line) })
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
    const { pid, end } = await dumping(url, 'attempts')
    const migrating = migrate(orm, { patienceMs: 100 })
    await expect(migrating).rejects.toThrow(
      new RegExp(
        `^pg_dump \\(login postgres, process ${pid}, for \\d+ s\\) uses a table that has to change: wait until it has ended, or end it with pg_terminate_backend, then run npm run migrate again\\. What was applied stays$`,
      ),
    )
    await end()
    expect(await migrate(orm)).toBe(2)
  })
})
