import { beforeEach, describe, expect, it } from '@jest/globals'
import { sql as raw } from 'kysely'
import { recordAudit } from '../../src/core/audit/statements/audit.ts'
import type { Sql } from '../../src/core/database/orm.ts'
import { openDatabase } from '../support/open-database.ts'

const WRITERS = 8
const ROWS = 15

describe('the audit', () => {
  let sql: Sql

  beforeEach(async () => {
    ;({ sql } = await openDatabase())
  })

  const write = (to: Sql, action: string) => recordAudit(to, 'Kim', { action, outcome: 'done' })
  const rows = () =>
    sql.selectFrom('audit').select(['id', 'at', 'action', 'previous_hash', 'hash']).orderBy('id').execute()

  it.each([
    'update audit set actor = null',
    'delete from audit',
    'truncate audit',
    'delete from audit where false',
  ])('refuses its owner to %s', async (statement) => {
    await write(sql, 'test')
    await expect(raw.raw(statement).execute(sql)).rejects.toThrow('the audit is append-only')
  })

  it('chains rows that many write at once, of which some are rolled back, in the order of their ids', async () => {
    const errors: string[] = []
    await Promise.all(
      Array.from({ length: WRITERS }, async (_, writer) => {
        for (let row = 0; row < ROWS; row += 1) {
          const isKept = (row + writer) % 3 !== 0
          const written = sql.transaction().execute(async (trx) => {
            await write(trx, `${writer}`)
            await write(trx, `${writer} again`)
            if (!isKept) throw new Error('rolled back')
          })
          await written.catch((error: unknown) => errors.push(String(error)))
        }
      }),
    )
    expect(new Set(errors)).toEqual(new Set(['Error: rolled back']))
    const found = await rows()
    expect(found).toHaveLength((WRITERS * ROWS * 2 * 2) / 3)
    const chained = found.map(({ previous_hash: hash }) => hash.toString('hex'))
    expect(chained).toEqual(['00'.repeat(32), ...found.slice(0, -1).map(({ hash }) => hash.toString('hex'))])
    const times = found.map(({ at }) => at.getTime())
    expect(times).toEqual(times.toSorted((one, other) => one - other))
  })

  it('does not branch off where a transaction cannot see the latest row', async () => {
    await write(sql, 'first')
    const late = sql
      .transaction()
      .setIsolationLevel('repeatable read')
      .execute(async (trx) => {
        await trx.selectFrom('audit').select('id').execute()
        await write(sql, 'second')
        await write(trx, 'third')
      })
    await expect(late).rejects.toThrow('audit_previous_hash_unique')
    expect(await rows()).toHaveLength(2)
  })

  it('takes id, time and login from nobody who writes', async () => {
    await raw`insert into audit (id, at, actor, action, outcome, database_user, previous_hash, hash)
      values (2147483647, 'epoch', 'Kim', 'test', 'done', 'nobody', 'none', 'none')`.execute(sql)
    const [row] = await sql.selectFrom('audit').selectAll().execute()
    expect(row).toMatchObject({ id: 1, database_user: 'postgres' })
    expect(Date.now() - Number(row?.at)).toBeLessThan(60_000)
    expect([row?.previous_hash.length, row?.hash.length]).toEqual([32, 32])
  })

  it('hashes a row to the same, whatever the settings of a session', async () => {
    await raw`insert into audit (actor, action, outcome, detail)
      values ('Zoë 💶', 'two
lines', 'done', '{"b": 1.10, "a": [0.1, null, 1e3], "ä": "\\u00e9\\n"}')`.execute(sql)
    const hashed = await sql.connection().execute(async (connection) => {
      const settings = [
        `TimeZone = 'Asia/Kathmandu'`,
        `DateStyle = 'German, DMY'`,
        `IntervalStyle = 'iso_8601'`,
        'extra_float_digits = -15',
        `bytea_output = 'escape'`,
        `client_encoding = 'LATIN1'`,
        'quote_all_identifiers = on',
        `search_path = pg_temp, public`,
      ]
      for (const setting of settings) await raw.raw(`set ${setting}`).execute(connection)
      const { rows: found } = await raw`select hash = audit_hash(audit) as same from audit`.execute(
        connection,
      )
      // a table that a session puts before ours
      await raw`create temporary table audit (like public.audit)`.execute(connection)
      await raw`insert into public.audit (actor, action, outcome) values ('Kim', 'test', 'done')`.execute(
        connection,
      )
      await raw`reset all`.execute(connection)
      return found
    })
    expect(hashed).toEqual([{ same: true }])
    const [first, second] = await rows()
    expect(second?.previous_hash).toEqual(first?.hash)
  })
})
