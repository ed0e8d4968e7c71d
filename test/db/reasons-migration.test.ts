import { randomBytes } from 'node:crypto'
import { beforeAll, describe, expect, it } from '@jest/globals'
import { sql as raw } from 'kysely'
import { migrate } from '../../src/core/database/migrating.ts'
import { connect, type Orm, type Sql, sqlOf } from '../../src/core/database/orm.ts'
import { atEnd } from '../support/at-end.ts'
import { createDatabase, dropDatabase, withDatabase } from '../support/template-database.ts'

const BEFORE = 'Migration20261123070000_check_results'

describe('the migration of reasons in free text', () => {
  let orm: Orm
  let sql: Sql

  beforeAll(async () => {
    const { TEST_DATABASE_URL: server = '', TEST_TEMPLATE_DATABASE: template = '' } = process.env
    const name = `${template}_${randomBytes(4).toString('hex')}`
    await createDatabase(server, name)
    orm = await connect(withDatabase(server, name))
    atEnd(async () => {
      await orm.close()
      await dropDatabase(server, name)
    })
    sql = sqlOf(orm)
    await orm.migrator.up({ to: BEFORE })
    await raw`insert into partners (name) values ('First Lender')`.execute(sql)
  })

  async function lead(closed: string | null, held: string | null, asked: [by: string, why: string | null]) {
    await raw`
      with made as (
        insert into leads (partner_id, personal, status, next_position, next_sequence, last_event_at, created_at,
          updated_at, closed_at, close_reason, held_at, hold_reason)
        select 1, 'sealed', 'lead_received', 2, 2, now(), now(), now(),
          case when ${closed}::text is not null then now() end, ${closed},
          case when ${held}::text is not null then now() end, ${held}
        returning id
      ) insert into erasures (lead_id, requested_by, reason, due_at) select id, ${asked[0]}, ${asked[1]}, now() from made`.execute(
      sql,
    )
  }

  it('keeps what the list knows, and no word of the rest', async () => {
    await lead(null, null, ['key 1', null])
    await lead('mortgage_ready', 'litigation, case 26-118', ['key 1', 'the borrower asked for it'])
    await lead('erased', 'litigation against Ada Miller', ['retention', 'ended more than 730 days ago'])
    await lead('created by mistake', 'Ada Miller, born 1 Jan 1980', ['journal', 'erased before the record'])
    await lead('Ada Miller, born 1 Jan 1980', 'litigation', ['kim', 'Ada Miller, born 1 Jan 1980'])
    await migrate(orm)
    const rows = await sql
      .selectFrom('leads')
      .innerJoin('erasures', 'erasures.lead_id', 'leads.id')
      .select(['close_reason', 'hold_reason', 'hold_reference', 'reason', 'reference'])
      .orderBy('leads.id')
      .execute()
    expect(rows.map((row) => Object.values(row))).toEqual([
      [null, null, null, null, null],
      ['mortgage_ready', 'litigation', '26-118', 'borrower_request', null],
      ['erased', 'litigation', null, 'retention', null],
      ['mistake', 'other', null, 'journal', null],
      ['other', 'litigation', null, 'other', null],
    ])
    expect(await orm.schema.getUpdateSchemaSQL({ wrap: false })).toBe('')
  })
})
