import { giveKeys } from '../../src/core/database/migration-keys.ts'
import { createCipheriv, createHash, randomBytes } from 'node:crypto'
import { beforeEach, describe, expect, it } from '@jest/globals'
import { sql as raw } from 'kysely'
import { openSecretOf } from '../../src/core/endpoints/statements/changes.ts'
import { signingSecrets } from '../../src/core/endpoints/statements/secrets.ts'
import { keysInUse } from '../../src/core/sealing/statements/encryption-keys.ts'
import { createLead } from '../../src/core/leads/statements/create-lead.ts'
import { leadIds } from '../../src/core/leads/statements/ids.ts'
import { findLeadRecord, openRecord } from '../../src/core/leads/statements/staff-reads.ts'
import { migrate } from '../../src/core/database/migrating.ts'
import { connect, type Orm, type Sql, sqlOf } from '../../src/core/database/orm.ts'
import { keyId } from '../../src/core/sealing/seal.ts'
import { atEnd } from '../support/at-end.ts'
import { LEAD } from '../support/leads.ts'
import { runToEnd } from '../support/processes.ts'
import { createDatabase, dropDatabase, withDatabase } from '../support/template-database.ts'
import { testKeys } from '../support/test-keys.ts'

const BEFORE = 'Migration20261122050020_events_by_txid_alone'
const MARK = `canary${randomBytes(6).toString('hex')}`
const HASH = createHash('sha256').update(MARK).digest('hex')
const LEADS = 450

/** A database as the version before left it, with borrowers that everyone can read. */
describe('the migration that seals what is there', () => {
  let orm: Orm
  let sql: Sql
  let url: string

  beforeEach(async () => {
    const { TEST_DATABASE_URL: server = '', TEST_TEMPLATE_DATABASE: template = '' } = process.env
    const name = `${template}_${randomBytes(4).toString('hex')}`
    await createDatabase(server, name)
    url = withDatabase(server, name)
    orm = await connect(url)
    atEnd(async () => {
      await orm.close()
      await dropDatabase(server, name)
    })
    sql = sqlOf(orm)
    await orm.migrator.up({ to: BEFORE })
    await fill()
  })

  async function fill(): Promise<void> {
    await raw`insert into partners (name) values ('First Lender')`.execute(sql)
    await raw`insert into endpoints (partner_id, url, state) values (1, 'https://lender.example/', 'active')`.execute(
      sql,
    )
    await raw`
      insert into leads (partner_id, first_name, last_name, email, phone, notes, metadata, status, next_position,
        next_sequence, last_event_at, created_at, updated_at)
      select 1, ${MARK} || n, 'Miller', ${MARK} || '@example.com', '555-0100', case when n % 2 = 0 then ${MARK} end,
        case when n % 3 = 0 then '{}' else jsonb_build_object('branch', ${MARK}::text, 'empty', '') end,
        'lead_received', 2, 2, now(), now(), now()
      from generate_series(1, ${LEADS}::int) n`.execute(sql)
    await raw`
      insert into idempotency_keys (partner_id, key, request_hash, response, lead_id)
      values (1, 'once', ${HASH}, '{"lead_id":7}', 7)`.execute(sql)
    await raw`
      insert into endpoint_secrets (endpoint_id, ciphertext)
      values (1, ${sealedBefore(`whsec_${MARK}`)})`.execute(sql)
    await raw`
      insert into endpoint_secrets (endpoint_id, ciphertext, expires_at)
      values (1, 'v1.00000000.ofLostKey', now())`.execute(sql)
    await raw`
      insert into endpoint_changes (endpoint_id, kind, state, ciphertext, requested_by)
      values (1, 'secret', 'announced', ${sealedBefore(`whsec_next${MARK}`)}, 'key 1')`.execute(sql)
  }

  const lead = async (id: number) => openRecord((await findLeadRecord(sql, id))!, testKeys)

  it('seals leads, secrets and hashes, each in its place, and the key is in use from then on', async () => {
    await migrate(orm, testKeys)
    expect(await lead(6)).toMatchObject({
      first_name: `${MARK}6`,
      last_name: 'Miller',
      notes: MARK,
      metadata: {},
    })
    expect(await lead(LEADS - 1)).toMatchObject({
      email: `${MARK}@example.com`,
      phone: '555-0100',
      notes: null,
      metadata: { branch: MARK, empty: '' },
    })
    await raw`update endpoint_secrets set expires_at = null where id = 1`.execute(sql)
    expect(await signingSecrets(sql, 1, testKeys)).toEqual([`whsec_${MARK}`])
    const change = await sql
      .selectFrom('endpoint_changes')
      .select(['id', 'ciphertext'])
      .executeTakeFirstOrThrow()
    expect(openSecretOf(change, testKeys)).toBe(`whsec_next${MARK}`)
    const creation = { sql, takeLeadId: leadIds(sql), encryptionKeys: testKeys }
    const again = { key: 'once', requestHash: HASH }
    expect(
      await createLead(
        creation,
        1,
        LEAD,
        () => '{}',
        () => null,
        { idempotency: again },
      ),
    ).toMatchObject({ kind: 'replayed' })
    expect(await keysInUse(sql)).toEqual(testKeys.map(keyId))
    expect(await orm.schema.getUpdateSchemaSQL({ wrap: false })).toBe('')
  })

  it('leaves nothing of it in the files of the tables', async () => {
    expect(await filesWith(MARK)).toEqual(['leads'])
    expect(await filesWith(HASH)).toEqual(['idempotency_keys'])
    // as autovacuum's ANALYZE does, somebody holds a snapshot from before
    await sql
      .transaction()
      .setIsolationLevel('repeatable read')
      .execute(async (trx) => {
        await raw`select 1`.execute(trx)
        giveKeys(orm.config, testKeys)
        // later ones build indexes concurrently, which waits for such snapshots
        await orm.migrator.up({ to: 'Migration20261122060200_borrowers_sealed' })
      })
    expect(await filesWith(MARK)).toEqual([])
    expect(await filesWith(HASH)).toEqual([])
  })

  async function filesWith(text: string): Promise<string[]> {
    await raw`checkpoint`.execute(sql)
    const { rows } = await raw<{ name: string }>`
      select relname::text as name from pg_class, lateral (
        select pg_read_binary_file(pg_relation_filepath(oid)) as bytes
      ) file
      where relname in ('leads', 'idempotency_keys') and position(${text}::bytea in bytes) > 0`.execute(sql)
    return rows.map(({ name }) => name)
  }

  it('goes on where it was cut off', async () => {
    await migrate(orm, testKeys)
    const sealed = await sql.selectFrom('leads').select(['id', 'personal']).where('id', '<=', 200).execute()
    // as after the first batch
    await raw`delete from mikro_orm_migrations where name like '%borrowers_sealed'`.execute(sql)
    await raw`alter table leads drop constraint leads_personal_check, add column first_name text not null default '',
      add column last_name text not null default '', add column email text not null default '',
      add column phone text not null default ''`.execute(sql)
    await raw`update leads set personal = null, notes = null, metadata = '{}', first_name = 'Grace', email = ${MARK}
      where id > 200`.execute(sql)
    expect(await migrate(orm, testKeys)).toBe(1)
    expect(await sql.selectFrom('leads').select(['id', 'personal']).where('id', '<=', 200).execute()).toEqual(
      sealed,
    )
    expect(await lead(201)).toMatchObject({ first_name: 'Grace', email: MARK })
  })

  it('says in one line what to set when it has no key, or not the right one, and changes nothing', async () => {
    const environment = { ENVIRONMENT: 'sandbox', DATABASE_URL: url }
    expect(await runToEnd('src/migrate.ts', environment)).toMatchObject({
      code: 1,
      stderr:
        'The database cannot be migrated: it holds data that is encrypted from this version on: set ENCRYPTION_KEY to the value that the API and the worker have\n',
    })
    const other = { ...environment, ENCRYPTION_KEY: randomBytes(32).toString('base64') }
    const refused = await runToEnd('src/migrate.ts', other)
    expect(refused.stderr).toMatch(
      /^The database cannot be migrated: endpoint_secrets 1 cannot be decrypted: add the key [0-9a-f]{8} to ENCRYPTION_KEY, after the current one, separated by a comma\n$/,
    )
    const { rows } = await raw`select from leads where email = ${`${MARK}@example.com`}`.execute(sql)
    expect(rows).toHaveLength(LEADS)
    const right = { ...environment, ENCRYPTION_KEY: testKeys.map((key) => key.toString('base64')).join() }
    expect(await runToEnd('src/migrate.ts', right)).toMatchObject({ code: 0 })
  })
})

/** The format of before: bound to no place. */
function sealedBefore(secret: string): string {
  const key = testKeys[0]!
  const header = `v1.${keyId(key)}`
  const nonce = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(header))
  const sealed = Buffer.concat([nonce, cipher.update(secret, 'utf8'), cipher.final(), cipher.getAuthTag()])
  return `${header}.${sealed.toString('base64url')}`
}
