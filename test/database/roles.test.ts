import { beforeAll, describe, expect, it } from '@jest/globals'
import { sql as raw } from 'kysely'
import { connect } from '../../src/database/orm.ts'
import { type Sql, sqlOf } from '../../src/database/sql.ts'
import { applyRoles } from '../../src/database/roles.ts'
import { atEnd } from '../support/at-end.ts'
import { freshDatabase } from '../support/database.ts'
import { ownPostgres } from '../support/own-postgres.ts'
import { runToEnd } from '../support/processes.ts'
import { createDatabase, withDatabase } from '../support/template-database.ts'

async function execute(url: string, statement: string): Promise<unknown[]> {
  const orm = await connect(url)
  try {
    return (await raw.raw(statement).execute(sqlOf(orm))).rows
  } finally {
    await orm.close()
  }
}

function as(url: string, user: string, password: string): string {
  const changed = new URL(url)
  changed.username = user
  changed.password = password
  return changed.href
}

describe('the service’s role', () => {
  let sql: Sql

  beforeAll(async () => {
    const database = await freshDatabase()
    const orm = await connect(database.serviceUrl)
    atEnd(async () => {
      await orm.close()
      await database.drop()
    })
    sql = sqlOf(orm)
  })

  it('owns nothing, and is nobody who could', async () => {
    const { rows } = await raw`
      select (select count(*)::int from pg_class where relowner = oid_of) as owned,
        (select rolsuper or rolcreaterole or rolcreatedb or rolbypassrls from pg_roles where oid = oid_of) as mighty
      from (select current_user::regrole::oid as oid_of) as me`.execute(sql)
    expect(rows).toEqual([{ owned: 0, mighty: false }])
  })

  it.each([
    'create table more (id int)',
    'drop table leads',
    'alter table leads add column more int',
    'alter table leads drop constraint leads_status_check',
    'drop index leads_partner_id_index',
    'truncate attempts',
    'update lead_events set created_at = now()',
    'delete from lead_events',
    'delete from mikro_orm_migrations',
    'create role accomplice superuser',
  ])('may not %s', async (statement) => {
    await expect(raw.raw(statement).execute(sql)).rejects.toThrow(
      /permission denied|must be (owner|superuser)/,
    )
  })
})

describe('migrate', () => {
  let ownerUrl: string
  const service = (password: string) => as(ownerUrl, 'referrals_service', password)
  const migrate = (given: Record<string, string> = {}) =>
    runToEnd('src/migrate.ts', {
      ENVIRONMENT: 'sandbox',
      MIGRATION_DATABASE_URL: ownerUrl,
      DATABASE_URL: service('first'),
      ...given,
    })

  beforeAll(async () => {
    ownerUrl = (await ownPostgres()).url
  })

  it('makes the roles, and gives the service the password of its URL', async () => {
    expect(await migrate()).toMatchObject({ code: 0, stderr: '' })
    expect(await execute(service('first'), 'select 1 as one from leads')).toEqual([])
    await expect(execute(service('second'), 'select 1')).rejects.toThrow('password authentication failed')
    expect(await migrate({ DATABASE_URL: service('second') })).toMatchObject({ code: 0, stderr: '' })
    expect(await execute(service('second'), 'select 1 as one')).toEqual([{ one: 1 }])
    expect(
      await execute(ownerUrl, "select rolcanlogin from pg_roles where rolname = 'referrals_staff'"),
    ).toEqual([{ rolcanlogin: false }])
  })

  it('makes and grants them in any number of processes', async () => {
    const orm = await connect(ownerUrl)
    expect(await Promise.all([1, 2, 3].map(() => applyRoles(orm)))).toEqual([undefined, undefined, undefined])
    await orm.close()
  })

  it.each([
    ['names another role', () => as(ownerUrl, 'other', 'x'), /must name the role referrals_service/],
    [
      'has another database',
      () => withDatabase(service('first'), 'another'),
      /name different databases: correct one/,
    ],
  ])('refuses a DATABASE_URL that %s', async (_, faulty, says) => {
    const { code, stderr } = await migrate({ DATABASE_URL: faulty() })
    expect([code, stderr]).toEqual([1, expect.stringMatching(says)])
    expect(stderr.trimEnd().split('\n')).toHaveLength(1)
  })

  it('says what to set where it gets the service’s login only', async () => {
    await createDatabase(ownerUrl, 'empty')
    const { code, stderr } = await migrate({
      MIGRATION_DATABASE_URL: '',
      DATABASE_URL: withDatabase(service('first'), 'empty'),
    })
    expect([code, stderr]).toEqual([1, expect.stringContaining('set MIGRATION_DATABASE_URL')])
  })

  it('says that a database is not there', async () => {
    const { code, stderr } = await migrate({ MIGRATION_DATABASE_URL: withDatabase(ownerUrl, 'missing') })
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/does not exist\. Create it first: see .*run\.md\n$/),
    ])
  })

  it('grants rights as an owner who may not make roles, where they are there', async () => {
    await execute(ownerUrl, "create role plain login password 'plain'")
    await createDatabase(ownerUrl, 'plain')
    await execute(ownerUrl, 'alter database plain owner to plain')
    const plain = as(withDatabase(ownerUrl, 'plain'), 'plain', 'plain')
    const given = { MIGRATION_DATABASE_URL: plain, DATABASE_URL: withDatabase(service('first'), 'plain') }
    await migrate()
    expect(await migrate(given)).toMatchObject({ code: 0, stderr: '' })
    await execute(ownerUrl, 'alter role referrals_staff rename to gone')
    expect((await migrate(given)).stderr).toContain('the owner may not make roles: have an administrator run')
    const alone = await migrate({ MIGRATION_DATABASE_URL: '', DATABASE_URL: plain })
    expect([alone.code, alone.stdout]).toEqual([
      0,
      expect.stringContaining('Without roles for logins of their own'),
    ])
    await execute(ownerUrl, 'alter role gone rename to referrals_staff')
  })
})
