import { beforeAll, describe, expect, it } from '@jest/globals'
import type { Sql } from '../../src/core/database/orm.ts'
import { insertKeyReads } from '../../src/core/audit/statements/write-reads.ts'
import { addPartner } from '../../src/core/partners/statements/partner.ts'
import { issueKey } from '../../src/core/partners/statements/keys.ts'
import { report } from '../../src/capabilities/access/commands/access.ts'
import { showLead } from '../../src/core/leads/commands/lead-view.ts'
import { requireLead } from '../../src/core/leads/commands/require-lead.ts'
import type { StaffContext } from '../../src/staff/context.ts'
import { insertLead } from '../support/insert-lead.ts'
import { LEAD } from '../support/leads.ts'
import { openDatabase } from '../support/open-database.ts'
import { contextOf, staff, withoutTemporal } from './context.ts'

const HOUR_MS = 3_600_000

describe('the access report', () => {
  let environment: Record<string, string>
  let context: StaffContext
  let sql: Sql
  let partnerId: number
  let leaked: number
  let other: number

  beforeAll(async () => {
    const database = await openDatabase()
    ;({ sql, partnerId } = database)
    environment = withoutTemporal(database.url)
    context = await contextOf(environment)
    const em = database.orm.em.fork()
    const second = await addPartner(em, { name: 'Second Lender' })
    leaked = (await issueKey(em, partnerId, 'sandbox')).id
    other = (await issueKey(em, second.id, 'sandbox')).id
    // a day before the leak, 2,500 borrowers during it, and a partner that has nothing to do with it
    const read = { partnerId, keyId: leaked, what: 'get-lead' as const }
    await insertKeyReads(sql, [
      { ...read, leadId: 10_001, ageMs: 24 * HOUR_MS },
      ...Array.from({ length: 2500 }, (_, index) => ({ ...read, leadId: index + 10_002, ageMs: HOUR_MS })),
      { ...read, leadId: 10_002, ageMs: HOUR_MS / 2, what: 'export-lead' },
      { leadId: 9001, partnerId: second.id, keyId: other, what: 'get-lead', ageMs: HOUR_MS },
    ])
  })

  const printed = async (options: Parameters<typeof report>[1], json = true) => {
    const pieces: string[] = []
    const { print } = await report(context, options)
    await print(json, async (piece) => void pieces.push(piece))
    return pieces
  }

  it('names the borrowers that a leaked key read since it leaked, page by page', async () => {
    const pieces = await printed({ key: leaked, from: new Date(Date.now() - 2 * HOUR_MS) })
    const { borrowers, ...rest } = JSON.parse(pieces.join(''))
    expect(rest).toMatchObject({
      key_id: leaked,
      to: null,
      leads: 2500,
      reads: 2501,
      partners: [{ partner_id: partnerId, leads: 2500, reads: 2501 }],
      also: expect.stringContaining('list-leads'),
    })
    expect(borrowers.map((row: { lead_id: number }) => row.lead_id)).toEqual(
      Array.from({ length: 2500 }, (_, index) => index + 10_002),
    )
    expect(borrowers[0]).toEqual({
      lead_id: 10_002,
      partner_id: partnerId,
      key_id: leaked,
      staff: null,
      database_user: null,
      os_user: null,
      what: ['export-lead', 'get-lead'],
      reads: 2,
      first_at: expect.any(String),
      last_at: expect.any(String),
    })
    // no piece is the whole
    expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(pieces.join('').length / 2)
  })

  it('says the same in text, with counts and ids only', async () => {
    const text = (await printed({ key: leaked, from: new Date(Date.now() - 2 * HOUR_MS) }, false)).join('')
    expect(text).toMatch(/^Read by key \d+ from .* UTC: 2500 borrowers, 2501 reads\.\n  partner \d+: 2500 /)
    expect(text).toContain('key 1: export-lead, get-lead')
    expect(text.split('\n').filter((line) => /^\d/.test(line))).toHaveLength(2500)
    expect(text).not.toMatch(/Lender|Ada/)
  })

  it('has who of staff looked at a lead, written before they see it', async () => {
    const leadId = await sql.transaction().execute((trx) => insertLead(trx, partnerId, LEAD, () => '{}'))
    await showLead(context, await requireLead(sql, leadId))
    const { borrowers } = JSON.parse((await printed({ lead: leadId })).join(''))
    expect(borrowers).toMatchObject([
      {
        lead_id: leadId,
        key_id: null,
        staff: 'tester',
        database_user: 'postgres',
        os_user: 'test',
        what: ['lead show'],
        reads: 1,
      },
    ])
    const ofPartner = JSON.parse((await printed({ partner: partnerId })).join(''))
    expect(ofPartner).toMatchObject({ leads: 2502, reads: 2503 })
    expect(ofPartner.borrowers).toContainEqual(expect.objectContaining({ staff: 'tester' }))
  })

  it('shows nothing of a lead that could not be written down', async () => {
    const leadId = await sql.transaction().execute((trx) => insertLead(trx, partnerId, LEAD, () => '{}'))
    const unwritten = { ...context, noteRead: () => Promise.reject(new Error('PostgreSQL is away')) }
    await expect(showLead(unwritten, await requireLead(sql, leadId))).rejects.toThrow('PostgreSQL is away')
    await expect(context.noteRead({ leadId: 999_999, what: 'lead show' })).rejects.toThrow('no such lead')
  })

  it('prints one JSON document, and refuses what is no key', async () => {
    const { code, stdout } = await staff(environment, ['--json', 'access', 'report', '--key', String(other)])
    expect([code, JSON.parse(stdout)]).toMatchObject([0, { leads: 1, reads: 1 }])
    const unknown = await staff(environment, ['access', 'report', '--key', '99'])
    expect(unknown).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('no key 99') })
    expect(await staff(environment, ['access', 'report'])).toMatchObject({ code: 1, stdout: '' })
  })
})
