import path from 'node:path'
import { beforeAll, describe, expect, it } from '@jest/globals'
import { requireDeployment } from '../../src/core/record/statements/deployment.ts'
import type { Sql } from '../../src/core/database/orm.ts'
import { eraseLeads } from '../../src/capabilities/erasure/statements/erase.ts'
import { type Journal, openJournal } from '../../src/capabilities/erasure/statements/journal.ts'
import { lackingLines } from '../../src/capabilities/erasure/statements/journal-lines.ts'
import { fillEndedLeads } from '../support/ended-leads.ts'
import { temporaryFolder } from '../support/folder.ts'
import { openDatabase } from '../support/open-database.ts'

/** Certificates that are read at a time. */
const PAGE = 1000

describe('a journal that is compared with more certificates than are read at a time', () => {
  let sql: Sql
  let leads: number[]
  let journal: Journal

  beforeAll(async () => {
    let partnerId: number
    ;({ sql, partnerId } = await openDatabase())
    await requireDeployment(sql, 'sandbox')
    await fillEndedLeads(sql, partnerId, PAGE + 1, 1)
    leads = (await sql.selectFrom('leads').select('id').orderBy('id').execute()).map(({ id }) => id)
    journal = openJournal(path.join(temporaryFolder(), 'erasures'))
    await erase(leads.slice(0, PAGE))
  }, 30_000)

  const erase = (ids: number[]) =>
    eraseLeads(sql, ids, { journal, backupDays: undefined }, { by: 'tester', reason: 'other' })
  /** Erases the last lead once the journal was read to its end. */
  const erasingMeanwhile = (): Journal => ({
    ...journal,
    async *read() {
      yield* journal.read()
      await erase(leads.slice(PAGE))
    },
  })

  it('is complete though a lead is erased after it was read', async () => {
    expect(await lackingLines(sql, { journal: erasingMeanwhile(), backupDays: undefined })).toBeUndefined()
  })

  it('is not complete where it lacks the lines of all pages', async () => {
    const empty = openJournal(temporaryFolder())
    const said = await lackingLines(sql, { journal: empty, backupDays: undefined })
    expect(said).toMatch(/is not complete: it lacks (10\d\d) of the \1 lines/)
  })
})
