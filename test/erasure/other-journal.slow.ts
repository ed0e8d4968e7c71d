import { mkdirSync, readdirSync, rmSync, truncateSync } from 'node:fs'
import path from 'node:path'
import { beforeEach, describe, expect, it } from '@jest/globals'
import { requireDeployment } from '../../src/core/record/statements/deployment.ts'
import { eraseLeads } from '../../src/capabilities/erasure/statements/erase.ts'
import { erasureTools } from '../../src/capabilities/erasure/statements/journal.ts'
import { connect, type Sql, sqlOf } from '../../src/core/database/orm.ts'
import { addPartner } from '../../src/core/partners/statements/partner.ts'
import { apply, rebuild } from '../../src/capabilities/erasure/commands/erasure-journal.ts'
import { erase } from '../../src/capabilities/erasure/commands/lead-erasure.ts'
import { runNow } from '../../src/capabilities/retention/commands/retention.ts'
import { auditOf, contextOf, withoutTemporal } from '../staff/context.ts'
import { freshDatabase } from '../support/database.ts'
import { temporaryFolder } from '../support/folder.ts'
import { insertLead } from '../support/insert-lead.ts'
import { LEAD } from '../support/leads.ts'
import { runToEnd } from '../support/processes.ts'
import { retainedAs } from '../support/retention.ts'
import { prepareService } from '../support/service.ts'

describe('a journal that lacks what certificates name', () => {
  let url: string
  let journal: string
  let leads: number[]

  beforeEach(async () => {
    ;({ url } = await freshDatabase())
    journal = path.join(temporaryFolder(), 'erasures')
    await withSql(async (sql, partnerId) => {
      await requireDeployment(sql, 'sandbox')
      leads = []
      for (let count = 0; count < 3; count += 1)
        leads.push(await insertLead(sql, partnerId, LEAD, () => '{}'))
      const tools = erasureTools({ ERASURE_JOURNAL: journal })
      await eraseLeads(sql, leads.slice(0, 2), tools, { by: 'tester', reason: 'other' })
    })
  })

  async function withSql(work: (sql: Sql, partnerId: number) => Promise<void>): Promise<void> {
    const orm = await connect(url)
    try {
      const { id } = await addPartner(orm.em.fork(), { name: 'First Lender' })
      await work(sqlOf(orm), id)
    } finally {
      await orm.close()
    }
  }

  const migrate = (folder?: string) =>
    runToEnd('src/migrate.ts', {
      ENVIRONMENT: 'sandbox',
      DATABASE_URL: url,
      ...(folder !== undefined && { ERASURE_JOURNAL: folder }),
    })
  const lacks = 'it lacks 2 of the 2 lines that certificates of erasures name.'

  it('stops migrate, which says how many there are and what to do', async () => {
    expect((await migrate(journal)).code).toBe(0)
    const empty = temporaryFolder()
    const { code, stderr } = await migrate(empty)
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: `The database cannot be migrated: The erasure journal in ${empty} is not complete: ${lacks} Correct ERASURE_JOURNAL, or put the missing files back; if they are lost, run npm run staff -- erasure rebuild\n`,
    })
    expect((await migrate(path.join(empty, 'missing'))).stderr).toContain(lacks)
    const unset = await migrate()
    expect([unset.code, unset.stderr]).toEqual([1, expect.stringContaining('ERASURE_JOURNAL is not set: it')])
  }, 60_000)

  it('stops migrate where a file of it was cut', async () => {
    const file = path.join(journal, readdirSync(journal)[0] ?? '')
    truncateSync(file, 40)
    expect((await migrate(journal)).stderr).toContain(lacks)
    rmSync(journal, { recursive: true })
    mkdirSync(journal)
    expect((await migrate(journal)).stderr).toContain(lacks)
  }, 60_000)

  it('stops a worker before it asks for anything of Temporal’s', async () => {
    const service = await prepareService({ DATABASE_URL: url })
    await expect(service.startWorker({ ERASURE_JOURNAL: temporaryFolder() })).rejects.toThrow(lacks)
  }, 60_000)

  it('keeps staff from erasing more into it', async () => {
    const context = await contextOf({ ...withoutTemporal(url), ERASURE_JOURNAL: temporaryFolder() })
    const [, , last = 0] = leads
    await expect(erase(context, last, { reason: 'other' })).rejects.toThrow(lacks)
    await expect(apply(context)).rejects.toThrow(lacks)
    await expect(runNow(context, [retainedAs('leads')])).rejects.toThrow(lacks)
    await context.close()
  })

  it('is written again from the record by staff, and then erases a restored record again', async () => {
    const folder = temporaryFolder()
    const settings = { ...withoutTemporal(url), ERASURE_JOURNAL: folder }
    const context = await contextOf(settings)
    expect((await rebuild(context)).json).toEqual({ journal: folder, rebuilt: leads.slice(0, 2) })
    expect((await rebuild(context)).json).toEqual({ journal: folder, rebuilt: [] })
    expect(await auditOf(context)).toContainEqual(
      expect.objectContaining({ action: 'erasure.rebuild_journal', detail: { lead_ids: leads.slice(0, 2) } }),
    )
    expect(await migrate(folder)).toMatchObject({ code: 0, stdout: 'The schema is up to date.\n' })

    const open = { erased_at: null, closed_at: null, close_reason: null, personal: 'sealed' }
    await context.sql.deleteFrom('erasures').execute()
    await context.sql.updateTable('leads').set(open).execute()
    expect((await apply(context)).json).toMatchObject({ erased: leads.slice(0, 2), unknown: [] })
    await context.close()
  }, 60_000)
})
