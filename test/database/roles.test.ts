import { chownSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { beforeAll, describe, expect, it } from '@jest/globals'
import { sql as raw } from 'kysely'
import { connect } from '../../src/database/orm.ts'
import { applyRoles } from '../../src/database/schema.ts'
import { type Sql, sqlOf } from '../../src/database/sql.ts'
import { unprivilegedUser } from '../../src/embedded/postgres.ts'
import { atEnd } from '../support/at-end.ts'
import { freshDatabase } from '../support/database.ts'
import { temporaryFolder } from '../support/folder.ts'
import { ownPostgres } from '../support/own-postgres.ts'
import { runToEnd } from '../support/processes.ts'
import { createDatabase, withDatabase } from '../support/template-database.ts'
import { makeCertificate } from '../webhooks/certificate.ts'

async function execute(url: string, statement: string): Promise<unknown[]> {
  const orm = await connect(url)
  try {
    return (await raw.raw(statement).execute(sqlOf(orm))).rows
  } finally {
    await orm.close()
  }
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

  it.each([
    'create table more (id int)',
    'alter table leads drop constraint leads_status_check',
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

/** A server of this file's own, whose roles and settings it may change. */
let ownerUrl: string
beforeAll(async () => {
  ownerUrl = (await ownPostgres()).url
}, 60_000)

describe('migrate', () => {
  const as = (user: string, password: string) =>
    Object.assign(new URL(ownerUrl), { username: user, password }).href
  const service = (password: string) => as('referrals_service', password)
  const migrate = (given: Record<string, string> = {}) =>
    runToEnd('src/migrate.ts', {
      ENVIRONMENT: 'sandbox',
      MIGRATION_DATABASE_URL: ownerUrl,
      DATABASE_URL: service('first'),
      ...given,
    })

  it('makes the roles, and gives the service the password of its URL', async () => {
    expect(await migrate()).toMatchObject({ code: 0, stderr: '' })
    expect(await execute(service('first'), 'select 1 as one from leads')).toEqual([])
    await expect(execute(service('second'), 'select 1')).rejects.toThrow('password authentication failed')
    expect(await migrate({ DATABASE_URL: service('second') })).toMatchObject({ code: 0, stderr: '' })
    expect(await execute(service('second'), 'select 1 as one')).toEqual([{ one: 1 }])
  })

  it('grants rights in any number of processes', async () => {
    const orm = await connect(ownerUrl)
    const granted = await Promise.allSettled([1, 2, 3].map(() => applyRoles(orm)))
    expect(granted.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'fulfilled'])
    await orm.close()
  })

  it.each([
    [
      'it gets the service’s login only',
      async () => {
        await createDatabase(ownerUrl, 'empty')
        return { MIGRATION_DATABASE_URL: '', DATABASE_URL: withDatabase(service('second'), 'empty') }
      },
      /set MIGRATION_DATABASE_URL/,
    ],
    [
      'the owner may not make roles that are missing',
      async () => {
        await execute(ownerUrl, "create role plain login password 'plain'")
        await createDatabase(ownerUrl, 'plain')
        await execute(ownerUrl, 'alter database plain owner to plain')
        await execute(ownerUrl, 'alter role referrals_staff rename to gone')
        return { MIGRATION_DATABASE_URL: withDatabase(as('plain', 'plain'), 'plain') }
      },
      /the owner may not make roles: have an administrator run/,
    ],
  ])('says in one line what to do where %s', async (_, given, says) => {
    const { code, stderr } = await migrate(await given())
    expect([code, stderr]).toEqual([1, expect.stringMatching(says)])
    expect(stderr.trimEnd().split('\n')).toHaveLength(1)
  })
})

describe('a connection to PostgreSQL', () => {
  const { cert, key } = makeCertificate({ host: 'localhost' })
  let url: URL
  let authority: string

  /** Gives a server that runs a certificate of its own; it has none at first. */
  beforeAll(async () => {
    url = new URL(ownerUrl)
    url.hostname = 'localhost'
    const folder = temporaryFolder()
    const owner = unprivilegedUser()
    const write = (name: string, content: string) => {
      const file = path.join(folder, name)
      writeFileSync(file, content, { mode: 0o600 })
      if (owner) chownSync(file, owner.uid, owner.gid)
      return file
    }
    if (owner) chownSync(folder, owner.uid, owner.gid)
    authority = write('server.crt', cert)
    const orm = await connect(url.href)
    for (const [setting, value] of Object.entries({
      ssl_cert_file: authority,
      ssl_key_file: write('server.key', key),
      ssl: 'on',
    }))
      await orm.em.getConnection().execute(`alter system set ${setting} = '${value}'`)
    await raw`select pg_reload_conf()`.execute(sqlOf(orm))
    await orm.close()
  })

  /** Whether it is encrypted; an error's message when there is none. */
  async function connectionWith(query: string): Promise<boolean | string> {
    const orm = await connect(`${url.href}${query.replace('AUTHORITY', encodeURIComponent(authority))}`)
    try {
      const { rows } = await raw<{ ssl: boolean }>`
        select ssl from pg_stat_ssl where pid = pg_backend_pid()`.execute(sqlOf(orm))
      return rows[0]?.ssl ?? 'nothing is known of it'
    } catch (error) {
      return (error as Error).message
    } finally {
      await orm.close()
    }
  }

  it.each([
    ['?sslmode=verify-full&sslrootcert=AUTHORITY', true],
    ['?sslmode=require', expect.stringMatching(/self-signed certificate/)],
    ['?sslmode=disable', false],
  ])('with %s is encrypted, refused or plain: %j', async (query, expected) => {
    expect(await connectionWith(query)).toEqual(expected)
  })
})
