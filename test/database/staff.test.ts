import { beforeEach, describe, expect, it } from '@jest/globals'
import { sql as raw } from 'kysely'
import { recordAudit } from '../../src/audit.ts'
import type { Sql } from '../../src/database/sql.ts'
import { openDatabase } from '../support/open-database.ts'
import { requireDeployment } from '../../src/database/deployment.ts'
import { restored } from '../../src/database/staff.ts'
import { auditOf, contextOf, staff, withoutTemporal } from '../staff/context.ts'

describe('staff audit', () => {
  let sql: Sql
  let environment: Record<string, string>

  beforeEach(async () => {
    const database = await openDatabase()
    ;({ sql } = database)
    environment = withoutTemporal(database.url)
    for (const action of ['one', 'two', 'three', 'four', 'five'])
      await recordAudit(sql, 'Zoë', { action, outcome: 'done', partnerId: 1, detail: { ü: [1.5, '\n'] } })
  })

  const exported = async (...options: string[]) => {
    const { stdout, code } = await staff(environment, ['audit', 'export', ...options])
    expect(code).toBe(0)
    const lines = stdout.trimEnd().split('\n')
    return lines.map((line) => JSON.parse(line) as { id: number; detail: unknown })
  }

  it('export prints the rows of a time', async () => {
    await raw`insert into audit (at, actor, action, outcome, detail)
      select timestamptz '2026-03-01 12:00Z' + n * interval '1 day', 'Kim', 'old', 'done', '{"a": 1}' from generate_series(0, 4) as n`.execute(
      sql,
    )
    const rows = await exported('--since', '2026-03-02', '--until', '2026-03-04T12:00')
    expect(rows.map(({ id }) => id)).toEqual([7, 8])
  })

  it('export prints them all, page by page, oldest first', async () => {
    await raw`insert into audit (actor, action, outcome)
      select 'Kim', n::text, 'done' from generate_series(6, 2500) as n`.execute(sql)
    const rows = await exported()
    expect(rows.map(({ id }) => id)).toEqual(Array.from({ length: 2500 }, (_, index) => index + 1))
    expect(rows[0]).toMatchObject({ actor: 'Zoë', detail: { ü: [1.5, '\n'] }, partner_id: 1 })
  })

  it('list shows the rows of a partner, newest first', async () => {
    await recordAudit(sql, 'Kim', { action: 'other', outcome: 'done', partnerId: 2 })
    const listing = ['audit', 'list', '--partner', '1', '--since', '1h', '--json']
    const { stdout } = await staff(environment, listing)
    const { rows } = JSON.parse(stdout) as { rows: { id: number; actor: string; database_user: string }[] }
    expect(rows.map(({ id }) => id)).toEqual([5, 4, 3, 2, 1])
    expect(rows[0]).toMatchObject({ actor: 'Zoë', database_user: 'postgres' })
    const shown = await staff(environment, ['audit', 'list', '--actor', 'Kim'])
    expect(shown.stdout).toMatch(/^row +at +who .*\n6 .* Kim +other +done [^\n]*\n$/)
  })
})

describe('staff record restored', () => {
  it('begins another epoch, and writes an audit row', async () => {
    const context = await contextOf(withoutTemporal((await openDatabase()).url))
    await requireDeployment(context.sql, 'sandbox')
    const { epoch } = (await restored(context)).json
    expect((await restored(context)).json.epoch).toBeGreaterThan(epoch)
    expect(await auditOf(context)).toEqual([
      expect.objectContaining({ action: 'record.restored', outcome: 'done', detail: { epoch } }),
      expect.objectContaining({ action: 'record.restored' }),
    ])
  })
})
