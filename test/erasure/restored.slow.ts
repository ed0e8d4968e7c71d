import path from 'node:path'
import { randomBytes } from 'node:crypto'
import { beforeEach, describe, expect, it } from '@jest/globals'
import { requireDeployment } from '../../src/core/record/statements/deployment.ts'
import { applyJournal } from '../../src/capabilities/erasure/statements/apply-journal.ts'
import { checkErasures } from '../../src/capabilities/erasure/statements/check.ts'
import { eraseLeads } from '../../src/capabilities/erasure/statements/erase.ts'
import { holdLead } from '../../src/capabilities/erasure/statements/holds.ts'
import { erasureTools } from '../../src/capabilities/erasure/statements/journal.ts'
import { erasuresOf, requestErasure } from '../../src/capabilities/erasure/statements/requests.ts'
import { connect, type Sql, sqlOf } from '../../src/core/database/orm.ts'
import { addPartner } from '../../src/core/partners/statements/partner.ts'
import { apply } from '../../src/capabilities/erasure/commands/erasure-journal.ts'
import { contextOf, staff, withoutTemporal } from '../staff/context.ts'
import { atEnd } from '../support/at-end.ts'
import { freshDatabase } from '../support/database.ts'
import { temporaryFolder } from '../support/folder.ts'
import { insertLead } from '../support/insert-lead.ts'
import { LEAD } from '../support/leads.ts'
import { runToEnd } from '../support/processes.ts'
import { createDatabase, dropDatabase, withDatabase } from '../support/template-database.ts'

const ERASING = { by: 'tester', reason: 'borrower_request' as const }

describe('a backup from before an erasure, once it is put back', () => {
  let url: string
  let journal: string
  let tools: ReturnType<typeof erasureTools>
  let leads: number[]
  let backup: string

  beforeEach(async () => {
    ;({ url } = await freshDatabase())
    journal = path.join(temporaryFolder(), 'erasures')
    tools = erasureTools({ ERASURE_JOURNAL: journal })
    await using database = await open(url)
    const { sql, partnerId } = database
    await requireDeployment(sql, 'sandbox')
    leads = []
    for (let count = 0; count < 3; count += 1) leads.push(await insertLead(sql, partnerId, LEAD, () => '{}'))
    await database.close()
    backup = await copyOf(url)
    await using later = await open(url, partnerId)
    await eraseLeads(later.sql, leads.slice(0, 2), tools, ERASING)
  })

  async function open(databaseUrl: string, known?: number) {
    const orm = await connect(databaseUrl)
    const partnerId = known ?? (await addPartner(orm.em.fork(), { name: 'First Lender' })).id
    const close = () => orm.close()
    return { orm, sql: sqlOf(orm), partnerId, close, [Symbol.asyncDispose]: close }
  }

  /** A copy as a backup makes it; nobody is connected. */
  async function copyOf(databaseUrl: string): Promise<string> {
    const name = `backup_${randomBytes(6).toString('hex')}`
    const server = process.env.TEST_DATABASE_URL ?? ''
    await createDatabase(server, name, new URL(databaseUrl).pathname.slice(1))
    atEnd(() => dropDatabase(server, name))
    return withDatabase(server, name)
  }

  const filledIn = async (sql: Sql) =>
    (await sql.selectFrom('leads').select(['id', 'personal']).orderBy('id').execute())
      .filter(({ personal }) => personal !== null)
      .map(({ id }) => id)
  const migrate = () =>
    runToEnd('src/migrate.ts', {
      ENVIRONMENT: 'sandbox',
      DATABASE_URL: backup,
      ERASURE_JOURNAL: journal,
    })

  it('is erased again by migrate, before any process serves it', async () => {
    await using database = await open(backup, 1)
    expect(await filledIn(database.sql)).toEqual(leads)
    const { code, stdout } = await migrate()
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: `The schema is up to date.\nErased again what the record still had: leads ${leads.slice(0, 2).join(', ')}.\n`,
    })
    expect(await filledIn(database.sql)).toEqual(leads.slice(2))
    const [erasure] = await erasuresOf(database.sql, leads[0] ?? 0)
    expect(erasure).toMatchObject({ erased_by: 'journal', checked_at: expect.any(Date) })
    expect((await migrate()).stdout).toBe('The schema is up to date.\n')
  })

  it('is erased again by staff who say that the record was restored, or ask for it', async () => {
    for (const command of ['record restored', 'erasure apply']) {
      const environment = { ...withoutTemporal(await copyOf(backup)), ERASURE_JOURNAL: journal }
      const { code, stdout } = await staff(environment, [...command.split(' '), '--json'])
      expect(code).toBe(0)
      expect(JSON.parse(stdout)).toMatchObject({ erased: leads.slice(0, 2), held: [], unknown: [] })
      const context = await contextOf(environment)
      expect(await filledIn(context.sql)).toEqual(leads.slice(2))
      expect((await apply(context)).text).toMatch(/^Every lead of the erasure journal is erased\./)
      await context.close()
    }
  })

  it('completes a request that the record has', async () => {
    await using database = await open(backup, 1)
    const { sql } = database
    const [lead = 0] = leads
    const request = { partnerId: 1, leadId: lead, reason: null, requestedBy: 'key 1', delayDays: 7 }
    expect(await requestErasure(sql, request)).toMatchObject({ kind: 'requested' })
    await applyJournal(sql, tools)
    expect(await erasuresOf(sql, lead)).toMatchObject([{ requested_by: 'key 1', erased_by: 'journal' }])
  })

  it('keeps another lead that got the same id since', async () => {
    await using database = await open(backup, 1)
    const { sql } = database
    const [lead = 0] = leads
    await sql.deleteFrom('deliveries').where('lead_id', '=', lead).execute()
    await sql
      .updateTable('lead_events')
      .set({ id: 'evt_0195550a-6b8a-7c31-9d2e-3f4a5b6c7d8e' })
      .where('lead_id', '=', lead)
      .execute()
    expect(await applyJournal(sql, tools)).toMatchObject({ lines: 2, erased: leads.slice(1, 2) })
    expect(await filledIn(sql)).toContain(lead)
  })

  it('keeps a lead that the record says is held, and says so', async () => {
    const [lead = 0] = leads
    const context = await contextOf({ ...withoutTemporal(backup), ERASURE_JOURNAL: journal })
    await holdLead(context.sql, lead, { reason: 'litigation', reference: null })
    const { text, failed } = await apply(context)
    expect(failed).toBe(true)
    expect(text).toContain(`Not erased, because the record says that they are held: leads ${lead}.`)
    expect(await filledIn(context.sql)).toContain(lead)
    await context.close()
  })

  it('is left alone by the journal of another deployment', async () => {
    await using database = await open(backup, 1)
    const other = '0195550a-6b8a-7c31-9d2e-3f4a5b6c7d8e'
    await database.sql.updateTable('deployment').set({ id: other }).execute()
    expect(await applyJournal(database.sql, tools)).toEqual({ lines: 0, erased: [], held: [], unknown: [] })
  })

  it('has nothing left of a lead, whose certificate says so, once that is checked', async () => {
    await using database = await open(url, 1)
    expect(await checkErasures(database.sql, leads.slice(0, 2))).toEqual([])
    const [erasure] = await erasuresOf(database.sql, leads[0] ?? 0)
    expect(erasure?.certificate?.checked?.left).toEqual({
      leads: 0,
      idempotency_keys: 0,
      onboarding_mails: 0,
      deliveries: 0,
      attempts: 0,
    })
    // a lead that is not erased has something left
    expect(await checkErasures(database.sql, leads.slice(2))).toEqual(leads.slice(2))
  })
})
