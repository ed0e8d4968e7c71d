import { randomBytes } from 'node:crypto'
import { beforeAll, describe, expect, it } from '@jest/globals'
import { sql as raw } from 'kysely'
import { Client } from 'pg'
import { insertKeyReads } from '../../src/core/audit/statements/write-reads.ts'
import { connect, type Orm, type Sql, sqlOf } from '../../src/core/database/orm.ts'
import { serviceRights } from '../../src/core/database/roles/service-role.ts'
import { migrate } from '../../src/core/database/schema/migrating.ts'
import { atEnd } from '../support/at-end.ts'
import { monthsOfReads } from '../support/months-of-reads.ts'
import { createDatabase, dropDatabase, withDatabase } from '../support/template-database.ts'

const LAST = 'Migration20261123200100_restores_seen'

describe('reads from before there were months', () => {
  const { TEST_DATABASE_URL: server = '', TEST_TEMPLATE_DATABASE: template = '' } = process.env
  const name = `${template}_${randomBytes(4).toString('hex')}`
  const role = `${name}_reader`
  const url = withDatabase(server, name)
  let orm: Orm
  let sql: Sql

  beforeAll(async () => {
    await createDatabase(server, name)
    orm = await connect(url)
    sql = sqlOf(orm)
    atEnd(async () => {
      await orm.close()
      await dropDatabase(server, name)
      const last = await connect(server)
      await raw`drop role ${raw.id(role)}`.execute(sqlOf(last))
      await last.close()
    })
    await orm.migrator.up({ to: LAST })
    await raw`create role ${raw.id(role)} login password 'reader'`.execute(sql)
    await raw`grant ${raw.raw(serviceRights('personal_reads'))} on personal_reads to ${raw.id(role)}`.execute(
      sql,
    )
    await raw`
      insert into personal_reads (at, lead_id, partner_id, key_id, what)
      select now() - n * interval '1 day', n, 1, 1, 'get-lead' from generate_series(0, 1999) as n`.execute(
      sql,
    )
  })

  /** A process of the older version, which writes and reads while the migrations run. */
  async function older() {
    const client = new Client({
      connectionString: Object.assign(new URL(url), { username: role, password: 'reader' }).href,
    })
    await client.connect()
    const ending = new AbortController()
    let written = 0
    const writing = (async () => {
      while (!ending.signal.aborted) {
        const text = `insert into personal_reads (at, lead_id, partner_id, key_id, what) values (now(), $1, 1, 2, 'get-lead')`
        await client.query({ name: 'write', text, values: [written] })
        written += 1
        await client.query({
          name: 'read',
          text: 'select count(*) from personal_reads where key_id = $1',
          values: [2],
        })
      }
    })()
    return {
      end: async () => {
        ending.abort()
        try {
          await writing
        } finally {
          await client.end()
        }
        return written
      },
    }
  }

  it('stay where they are, while processes of the version before go on', async () => {
    const { end } = await older()
    expect(await migrate(orm)).toBeGreaterThan(3)
    const written = await end()
    expect(written).toBeGreaterThan(0)
    expect(await orm.schema.getUpdateSchemaSQL({ wrap: false })).toBe('')
    const { rows } = await raw`
      select count(*)::int as reads, count(distinct id)::int as ids, count(*) filter (where key_id = 2)::int as of_older,
        count(distinct tableoid)::int as parts
      from personal_reads`.execute(sql)
    expect(rows).toEqual([{ reads: 2000 + written, ids: 2000 + written, of_older: written, parts: 1 }])
    const parts = await monthsOfReads(sql)
    expect(parts[0]).toMatch(/^personal_reads_20/)
    expect(parts.at(-1)).toBe('personal_reads_before')
  })

  it('are followed by months, and take no more than this one and the next', async () => {
    await insertKeyReads(sql, [{ leadId: 1, partnerId: 1, keyId: 3, what: 'get-lead', ageMs: 0 }])
    const at = raw<Date>`date_trunc('month', now() at time zone 'UTC' + interval '2 months') at time zone 'UTC'`
    await raw`insert into personal_reads (at, lead_id, partner_id, key_id, what) values (${at}, 1, 1, 3, 'get-lead')`.execute(
      sql,
    )
    const { rows } = await raw<{ part: string }>`
      select tableoid::regclass::text as part from personal_reads where key_id = 3 order by at`.execute(sql)
    expect(rows).toEqual([
      { part: 'personal_reads_before' },
      { part: expect.stringMatching(/^personal_reads_\d{4}_\d\d$/) },
    ])
  })

  it('are deleted a batch at a time when their month is old, until the last are dropped at once', async () => {
    const remove = async (days: number, most: number) => {
      const { rows } = await raw<{ removed: number }>`
        select delete_old_personal_reads(${days}, ${most}) as removed`.execute(sql)
      return rows[0]?.removed
    }
    const oldOf = async (days: number) => {
      const { rows } = await raw<{ old: number }>`select count(*)::int as old from personal_reads
        where at < date_trunc('month', now() at time zone 'UTC' - ${days} * interval '1 day') at time zone 'UTC'`.execute(
        sql,
      )
      return rows[0]?.old ?? 0
    }
    const old = await oldOf(1095)
    expect(old).toBeGreaterThan(800)
    expect([await remove(1095, 500), await remove(1095, 500), await remove(1095, 500)]).toEqual([
      500,
      old - 500,
      0,
    ])
    expect(await oldOf(1095)).toBe(0)
    const left = await sql
      .selectFrom('personal_reads')
      .select(sql.fn.countAll<number>().as('rows'))
      .executeTakeFirstOrThrow()
    // years later
    await raw`alter table personal_reads detach partition personal_reads_before`.execute(sql)
    await raw`update personal_reads_before set at = at - interval '3 years'`.execute(sql)
    const bound = raw.lit(new Date(Date.now() - 2 * 365 * 86_400_000).toISOString())
    await raw`alter table personal_reads attach partition personal_reads_before
      for values from (minvalue) to (${bound})`.execute(sql)
    expect(await remove(365, 1)).toBe(left.rows - 1)
    expect(await monthsOfReads(sql)).not.toContain('personal_reads_before')
  })
})
