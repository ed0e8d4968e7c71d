import { randomBytes } from 'node:crypto'
import { beforeAll, describe, expect, it } from '@jest/globals'
import { sql as raw } from 'kysely'
import { connect, type Orm, sqlOf } from '../../src/core/database/orm.ts'
import { ownerInstead, provideServiceRole } from '../../src/core/database/roles/service-role.ts'
import { atEnd } from '../support/at-end.ts'
import { runToEnd } from '../support/processes.ts'
import { createDatabase, dropDatabase, withDatabase } from '../support/template-database.ts'

const server = process.env.TEST_DATABASE_URL ?? ''
const name = `roles_${randomBytes(4).toString('hex')}`
const role = `${name}_service`

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

describe('the role that migrate makes for the service', () => {
  const ownerUrl = withDatabase(server, name)
  const url = as(ownerUrl, role, 'first-password')
  const environment = { ENVIRONMENT: 'sandbox', MIGRATION_DATABASE_URL: ownerUrl, DATABASE_URL: url }
  let orm: Orm

  beforeAll(async () => {
    await createDatabase(server, name)
    const { stderr } = await runToEnd('src/migrate.ts', environment)
    if (stderr !== '') throw new Error(stderr)
    orm = await connect(url)
    atEnd(async () => {
      await orm.close()
      await dropDatabase(server, name)
      await execute(server, `drop role ${role}`)
    })
  })

  const run = async (statement: string) => raw.raw(statement).execute(sqlOf(orm))

  it('owns nothing, and is nobody who could', async () => {
    const { rows } = await run(`
      select (select count(*)::int from pg_class where relowner = oid_of) as owned,
        (select rolsuper or rolcreaterole or rolcreatedb or rolbypassrls from pg_roles where oid = oid_of) as mighty
      from (select current_user::regrole::oid as oid_of) as me`)
    expect(rows).toEqual([{ owned: 0, mighty: false }])
  })

  it.each([
    'create table more (id int)',
    'drop table leads',
    'alter table leads add column more int',
    'alter table leads drop constraint leads_status_check',
    'drop index leads_partner_id_index',
    'truncate attempts',
    'delete from audit',
    'truncate audit',
    'delete from leads',
    'delete from erasures',
    'delete from attempts',
    "update audit set actor = 'nobody'",
    'delete from personal_reads',
    "insert into personal_reads (lead_id, partner_id, staff, what) values (1, 1, 'ada', 'lead show')",
    'update personal_reads set key_id = 1',
    'update lead_events set created_at = now()',
    "update deployment set environment = 'production'",
    'delete from mikro_orm_migrations',
    'create role accomplice superuser',
  ])('may not %s', async (statement) => {
    await expect(run(statement)).rejects.toThrow(/permission denied|must be (owner|superuser)/)
  })

  it('may begin another generation of the record', async () => {
    const elsewhere = "update deployment set timeline = timeline - 1, system_identifier = '7'"
    await execute(ownerUrl, elsewhere)
    const another = await connect(url)
    atEnd(() => another.close())
    const { rows } = await raw`select cause from restores`.execute(sqlOf(another))
    expect(rows).toEqual([{ cause: 'system_identifier' }])
  })

  it('gets the password of DATABASE_URL when that was changed', async () => {
    const changed = as(url, role, 'second-password')
    await expect(execute(changed, 'select 1')).rejects.toThrow('password authentication failed')
    expect((await runToEnd('src/migrate.ts', { ...environment, DATABASE_URL: changed })).code).toBe(0)
    expect(await execute(changed, 'select 1 as one')).toEqual([{ one: 1 }])
    const back = await runToEnd('src/migrate.ts', environment)
    expect(back).toMatchObject({ code: 0, stderr: '' })
  })

  it.each([
    ['is the owner', ownerUrl, /names the role \S+, which owns the tables/],
    ['has another database', as(server, role, 'first-password'), /name different databases/],
  ])('is refused where DATABASE_URL %s', async (_, faulty, says) => {
    const { code, stderr } = await runToEnd('src/migrate.ts', { ...environment, DATABASE_URL: faulty })
    expect({ code, lines: stderr.trimEnd().split('\n') }).toEqual({
      code: 1,
      lines: [expect.stringMatching(says)],
    })
  })

  it('is not the owner that MIGRATION_DATABASE_URL has to name', async () => {
    const { code, stderr } = await runToEnd('src/migrate.ts', { ...environment, MIGRATION_DATABASE_URL: url })
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: `The database cannot be migrated: MIGRATION_DATABASE_URL names the role ${role}, as DATABASE_URL does: it must name the owner of the tables\n`,
    })
  })

  it('is made in a database that has to be there', async () => {
    const missing = withDatabase(server, `${name}_missing`)
    const { code, stderr } = await runToEnd('src/migrate.ts', {
      ...environment,
      MIGRATION_DATABASE_URL: missing,
    })
    expect(code).toBe(1)
    expect(stderr).toMatch(
      /^The database cannot be migrated: .*does not exist\. Create it first: see .*run\.md\n$/,
    )
  })

  it('is refused as the one that migrates, with what to set instead', async () => {
    const remedy = `set MIGRATION_DATABASE_URL to the same database as its owner, who creates the role of DATABASE_URL. See “On several machines” in docs/run.md\n`
    const migrateAs = async (given: string) => {
      const { stderr, stdout } = await runToEnd('src/migrate.ts', {
        ENVIRONMENT: 'sandbox',
        DATABASE_URL: given,
      })
      return `${stdout}${stderr}`
    }
    expect(await migrateAs(url)).toBe(
      `The database cannot be migrated: DATABASE_URL names the role ${role}, which may not change the schema: ${remedy}`,
    )
    const fresh = `${name}_fresh`
    await createDatabase(server, fresh)
    atEnd(() => dropDatabase(server, fresh))
    expect(await migrateAs(withDatabase(url, fresh))).toContain(`which may not change the schema: ${remedy}`)
    expect(await migrateAs(as(ownerUrl, `${name}_nobody`, 'x'))).toMatch(
      new RegExp(
        `^The database cannot be migrated: password .+\\. If that is the service’s role, ${remedy}$`,
      ),
    )
  })

  it('is told from whoever could become the owner', async () => {
    const [owner, member] = [`${name}_owner`, `${name}_member`]
    const database = `${name}_owned`
    await createDatabase(server, database)
    await execute(server, `create role ${owner}`)
    await execute(server, `create role ${member} login password 'member' in role ${owner}`)
    atEnd(async () => {
      await dropDatabase(server, database)
      await execute(server, `drop role ${member}, ${owner}`)
    })
    const ownerInsteadAs = async (given: string) => {
      const connection = await connect(given)
      try {
        return await ownerInstead(sqlOf(connection))
      } finally {
        await connection.close()
      }
    }
    const asMember = as(withDatabase(server, database), member, 'member')
    expect(await ownerInsteadAs(asMember)).toBeUndefined()
    await execute(withDatabase(server, database), 'create table leads ()')
    await execute(withDatabase(server, database), `alter table leads owner to ${owner}`)
    expect(await ownerInsteadAs(asMember)).toContain(`DATABASE_URL names the role ${member}, which owns`)
    expect(await ownerInsteadAs(server)).toContain('which owns the database or everything')
    expect(await ownerInsteadAs(url)).toBeUndefined()
  })

  it('is granted its rights by an owner who may not make roles, where it is there', async () => {
    const plain = `${name}_plain`
    await execute(server, `create role ${plain} login password 'plain'`)
    await createDatabase(server, plain)
    atEnd(async () => {
      await dropDatabase(server, plain)
      await execute(server, `drop role ${plain}`)
    })
    await execute(server, `alter database ${plain} owner to ${plain}`)
    const plainOwner = as(withDatabase(server, plain), plain, 'plain')
    const given = { ...environment, MIGRATION_DATABASE_URL: plainOwner }
    const migrated = await runToEnd('src/migrate.ts', {
      ...given,
      DATABASE_URL: withDatabase(url, plain),
    })
    expect(migrated).toMatchObject({ code: 0, stderr: '' })
    expect(migrated.stdout).toMatch(
      /^The owner has no right to make roles: create role \S+_viewer; create role \S+_staff; and run this again\. .+\n.+\.\n$/,
    )
    const missing = as(plainOwner, `${role}_missing`, 'x')
    const { stderr } = await runToEnd('src/migrate.ts', { ...given, DATABASE_URL: missing })
    expect(stderr).toMatch(
      /^The database cannot be migrated: the owner has no right to make the role \S+_missing: create it .*\n$/,
    )
  })

  it('has, beside it, groups for people’s logins, unless the owner may not make roles', async () => {
    const groups = await execute(
      server,
      `select rolname, rolcanlogin from pg_roles where rolname in ('${name}_viewer', '${name}_staff') order by 1`,
    )
    expect(groups).toEqual([
      { rolname: `${name}_staff`, rolcanlogin: false },
      { rolname: `${name}_viewer`, rolcanlogin: false },
    ])
  })

  it('is made once by migrations at the same time', async () => {
    const owner = await connect(ownerUrl)
    await Promise.all([1, 2, 3].map(() => provideServiceRole(owner, url)))
    await owner.close()
    expect(await execute(url, 'select 1 as one')).toEqual([{ one: 1 }])
  })
})
