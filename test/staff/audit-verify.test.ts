import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { beforeEach, describe, expect, it } from '@jest/globals'
import { sql as raw } from 'kysely'
import { recordAudit } from '../../src/core/audit/statements/audit.ts'
import { auditHead } from '../../src/capabilities/audit/statements/audit-chain.ts'
import type { Sql } from '../../src/core/database/orm.ts'
import { restored } from '../../src/capabilities/restore/commands/record.ts'
import { verify } from '../../src/capabilities/audit/commands/audit-verify.ts'
import { temporaryFolder } from '../support/folder.ts'
import { openDatabase } from '../support/open-database.ts'
import { contextOf, staff, withoutTemporal } from './context.ts'

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

  /** Changes rows as the owner can who disables the trigger. */
  async function tamper(...statements: string[]): Promise<void> {
    await sql.transaction().execute(async (trx) => {
      await raw`alter table audit disable trigger user`.execute(trx)
      for (const statement of statements) await raw.raw(statement).execute(trx)
      await raw`alter table audit enable trigger user`.execute(trx)
    })
  }
  const headOf = async () => {
    const [id = '', hash = ''] = ((await auditHead(sql)) ?? '').split(':')
    return { id: Number(id), hash }
  }
  const verified = async (...heads: { id: number; hash: string }[]) => {
    const { json, failed } = await verify(await contextOf(environment), { head: heads })
    expect(failed).toBe(json.findings.length > 0)
    return json.findings.map(({ kind, id }) => `${kind} ${id}`)
  }
  const exported = async (...options: string[]) => {
    const { stdout, code } = await staff(environment, ['audit', 'export', ...options])
    expect(code).toBe(0)
    return stdout
  }

  it('verify exits with 0 when all is as it was, and says where the audit ends', async () => {
    const head = await auditHead(sql)
    const { code, stdout } = await staff(environment, ['audit', 'verify', '--head', `${head}`])
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^rows +5\n.*Every row is unchanged/s)])
    expect(stdout).toContain(head)
  })

  it('verify exits with 1 and names a row that was changed', async () => {
    await tamper(`update audit set actor = 'Mallory' where id = 3`)
    const { code, stdout } = await staff(environment, ['audit', 'verify'])
    expect([code, stdout]).toEqual([1, expect.stringMatching(/\n\nRow 3 was changed: [^\n]*\n$/)])
  })

  it.each([
    ['a changed detail', [`update audit set detail = '{}' where id = 2`], ['changed 2']],
    ['a changed time', [`update audit set at = at + interval '1 microsecond' where id = 2`], ['changed 2']],
    ['a removed value', ['update audit set partner_id = null where id = 5'], ['changed 5']],
    ['a hash made anew', [`update audit set actor = 'x' where id = 2`, rehash(2)], ['missing 3']],
    ['a missing row', ['delete from audit where id = 3'], ['missing 4']],
    ['a missing beginning', ['delete from audit where id < 3'], ['missing 3']],
    [
      'rows that changed places',
      ['update audit set id = 9 where id = 2', 'update audit set id = 2 where id = 4'],
      ['changed 2', 'reordered 2', 'reordered 3', 'reordered 5', 'changed 9', 'reordered 9'],
    ],
    [
      'rows that changed places, with hashes of their own made anew',
      ['update audit set id = 9 where id = 5', rehash(9), 'update audit set id = 5 where id = 4', rehash(5)],
      ['missing 9'],
    ],
  ])('verify finds %s', async (_, statements, findings) => {
    await tamper(...statements)
    expect(await verified()).toEqual(findings)
  })

  it('verify finds an end that was cut off, and a whole that was replaced, by a head that was logged', async () => {
    const head = await headOf()
    await tamper('delete from audit where id > 3')
    expect(await verified()).toEqual([])
    expect(await verified(head)).toEqual(['missing 5'])
    await tamper(`select setval('audit_id_seq', 3)`)
    await recordAudit(sql, 'Mallory', { action: 'four', outcome: 'done' })
    await recordAudit(sql, 'Mallory', { action: 'five', outcome: 'done' })
    expect(await verified()).toEqual([])
    expect(await verified(head)).toEqual(['other_head 5'])
    // a worker has logged the other one since
    expect(await verified(head, await headOf())).toEqual(['other_head 5'])
    expect(await verified(await headOf(), head)).toEqual(['other_head 5'])
  })

  it('verify goes on over the gap that a restore leaves, and names the heads that were lost', async () => {
    const kept = await headOf()
    await recordAudit(sql, 'Kim', { action: 'lost', outcome: 'done' })
    const lost = await headOf()
    // what a restored copy does not have any more
    await tamper('delete from audit where id = 6', `select setval('audit_id_seq', 5)`)
    const context = await contextOf(environment)
    await context.deployment()
    await restored(context)
    expect((await headOf()).id).toBeGreaterThan(1000)
    expect(await verified(kept)).toEqual([])
    expect(await verified(kept, lost)).toEqual(['missing 6'])
  })

  it('verify looks at rows page by page', async () => {
    await raw`insert into audit (actor, action, outcome)
      select 'Kim', n::text, 'done' from generate_series(6, 2500) as n`.execute(sql)
    await tamper('delete from audit where id = 2000', `update audit set actor = 'x' where id = 2001`)
    const { json } = await verify(await contextOf(environment), {})
    expect([json.rows, json.findings.map(({ id }) => id)]).toEqual([2499, [2001, 2001]])
  })

  it('verify refuses a head that is none', async () => {
    const { code, stderr } = await staff(environment, ['audit', 'verify', '--head', '5:abc'])
    expect([code, stderr]).toEqual([2, expect.stringContaining('Use a head as a worker logged it')])
  })

  it('export prints lines that the program of docs/operations/staff-and-audit.md checks without access', async () => {
    const operations = readFileSync(
      path.join(import.meta.dirname, '../../docs/operations/staff-and-audit.md'),
      'utf8',
    )
    const [, program = ''] = /```js\n(\/\/ node check-audit.mjs.+?)```/s.exec(operations) ?? []
    const file = path.join(temporaryFolder(), 'check-audit.mjs')
    writeFileSync(file, program)
    const check = async (lines: string) => {
      const child = spawn(process.execPath, [file], { stdio: ['pipe', 'pipe', 'inherit'] })
      child.stdin.end(lines)
      return text(child.stdout)
    }
    const lines = await exported()
    expect(lines.split('\n')).toHaveLength(6)
    const last = `last row: ${await auditHead(sql)}\n`
    expect(await check(lines)).toBe(last)
    expect(await check(lines.replace('"three"', '"thre3"'))).toBe(`row 3 was changed\n${last}`)
    const without = lines.split('\n').filter((line) => !line.includes('"three"'))
    expect(await check(without.join('\n'))).toBe(`row 4 does not follow row 2\n${last}`)
  })

  it('export prints the rows of a time', async () => {
    await tamper(`update audit set at = timestamptz '2026-03-01 12:00Z' + (id - 1) * interval '1 day'`)
    const ids = (lines: string) =>
      lines
        .trim()
        .split('\n')
        .map((line) => (JSON.parse(line) as { id: number }).id)
    expect(ids(await exported('--from', '2026-03-02', '--to', '2026-03-04T12:00'))).toEqual([2, 3])
    expect(await exported('--from', '2026-04-01')).toBe('')
  })

  it('list shows the rows of a partner, newest first', async () => {
    await recordAudit(sql, 'Kim', { action: 'other', outcome: 'done', partnerId: 2 })
    const { stdout } = await staff(environment, [
      'audit',
      'list',
      '--partner',
      '1',
      '--since',
      '1h',
      '--json',
    ])
    const { rows } = JSON.parse(stdout) as { rows: { id: number; actor: string; database_user: string }[] }
    expect(rows.map(({ id }) => id)).toEqual([5, 4, 3, 2, 1])
    expect(rows[0]).toMatchObject({ actor: 'Zoë', database_user: 'postgres' })
    const shown = await staff(environment, ['audit', 'list', '--actor', 'Kim'])
    expect(shown.stdout).toMatch(/^row +at +who .*\n6 .* Kim +other +done [^\n]*\n$/)
  })
})

/** Gives a row the hash of its content, as somebody would who knows the rule. */
function rehash(id: number): string {
  return `update audit set hash = audit_hash(audit) where id = ${id}`
}
