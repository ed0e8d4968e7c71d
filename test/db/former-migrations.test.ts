import { randomBytes } from 'node:crypto'
import { readdirSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { sql as raw } from 'kysely'
import { loadReferralState } from '../../src/core/leads/statements/referral-states.ts'
import { migrate } from '../../src/core/database/schema/migrating.ts'
import { migrationsFolder } from '../../src/core/database/mikro-orm.config.ts'
import { connect, type Orm, type Sql, sqlOf } from '../../src/core/database/orm.ts'
import { atEnd } from '../support/at-end.ts'
import { undoInitialMigration } from '../support/former-migrations.ts'
import { insertLead } from '../support/insert-lead.ts'
import { LEAD } from '../support/leads.ts'
import { openDatabase } from '../support/open-database.ts'
import { runToEnd } from '../support/processes.ts'
import { createDatabase, dropDatabase, withDatabase } from '../support/template-database.ts'

const all = readdirSync(migrationsFolder)
  .filter((file) => file.startsWith('Migration'))
  .map((file) => path.basename(file, '.ts'))
  .toSorted()

describe('the initial migration', () => {
  const applied = async (sql: Sql) => {
    const { rows } = await raw<{ name: string }>`select name from mikro_orm_migrations order by name`.execute(
      sql,
    )
    return rows.map(({ name }) => name)
  }
  const difference = (orm: Orm) => orm.schema.getUpdateSchemaSQL({ wrap: false })

  it('makes what an empty database lacks', async () => {
    const { TEST_DATABASE_URL: server = '', TEST_TEMPLATE_DATABASE: template = '' } = process.env
    const name = `${template}_${randomBytes(4).toString('hex')}`
    await createDatabase(server, name)
    const orm = await connect(withDatabase(server, name))
    atEnd(async () => {
      await orm.close()
      await dropDatabase(server, name)
    })
    expect(await migrate(orm)).toBe(all.length)
    expect(await applied(sqlOf(orm))).toEqual(all)
    expect(await difference(orm)).toBe('')
  })

  it('counts as applied where all former ones were, and what they made differently is made anew', async () => {
    const { orm, sql, partnerId } = await openDatabase()
    const leadId = await sql.transaction().execute((trx) => insertLead(trx, partnerId, LEAD, () => '{}'))
    await undoInitialMigration(sql)
    expect(await Promise.all([migrate(orm), migrate(orm)])).toEqual([0, 0])
    expect(await applied(sql)).toEqual(all)
    expect(await difference(orm)).toBe('')
    expect((await loadReferralState(sql, leadId))?.leadId).toBe(leadId)
    const { rows } = await raw`select pg_get_function_identity_arguments(oid) as arguments from pg_proc
      where proname = 'delete_old_personal_reads'`.execute(sql)
    expect(rows).toEqual([{ arguments: 'days integer' }])
    await expect(raw`select delete_old_personal_reads(364)`.execute(sql)).rejects.toThrow('kept for a year')
  })

  it('is refused in one line where only some of the former ones were applied', async () => {
    const { sql, url } = await openDatabase()
    const last = 'Migration20261124140001_resets_checked'
    await undoInitialMigration(sql, last)
    const before = await applied(sql)
    expect(await runToEnd('src/migrate.ts', { ENVIRONMENT: 'sandbox', DATABASE_URL: url })).toMatchObject({
      code: 1,
      stderr: `The database cannot be migrated: The database’s schema is too old for this version (its last migration is ${last}): have commit b85accb migrate it first, by npm run migrate or npm start, or start over without what it holds: npm start -- --fresh\n`,
    })
    expect(await applied(sql)).toEqual(before)
  })
})
