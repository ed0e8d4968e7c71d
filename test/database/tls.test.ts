import { chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { beforeAll, describe, expect, it } from '@jest/globals'
import { sql as raw } from 'kysely'
import { connect } from '../../src/database/orm.ts'
import { sqlOf } from '../../src/database/sql.ts'
import { unprivilegedUser } from '../../src/embedded/postgres.ts'
import { atEnd } from '../support/at-end.ts'
import { ownPostgres } from '../support/own-postgres.ts'
import { makeCertificate } from '../webhooks/certificate.ts'

describe('a connection to PostgreSQL', () => {
  const { cert, key } = makeCertificate({ host: 'localhost' })
  let url: URL
  let authority: string

  /** Gives a server that runs a certificate of its own; it has none at first. */
  beforeAll(async () => {
    const postgres = await ownPostgres()
    url = new URL(postgres.url)
    url.hostname = 'localhost'
    const folder = mkdtempSync('/tmp/referrals-postgres-tls-')
    atEnd(async () => rmSync(folder, { recursive: true }))
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
  }, 60_000)

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
    ['?sslmode=no-verify', true],
    ['?sslmode=disable', false],
  ])('with %s is encrypted, refused or plain: %j', async (query, expected) => {
    expect(await connectionWith(query)).toEqual(expected)
  })
})
