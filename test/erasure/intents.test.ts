import { randomUUID } from 'node:crypto'
import { appendFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { sql as raw } from 'kysely'
import { Registry } from 'prom-client'
import { v7 as uuidv7 } from 'uuid'
import { requireDeployment } from '../../src/core/record/statements/deployment.ts'
import { applyJournal } from '../../src/capabilities/erasure/statements/apply-journal.ts'
import { eraseLeads } from '../../src/capabilities/erasure/statements/erase.ts'
import { endOpenIntents } from '../../src/capabilities/erasure/statements/intents.ts'
import { erasureTools, openJournal } from '../../src/capabilities/erasure/statements/journal.ts'
import { connect, type Sql, sqlOf } from '../../src/core/database/orm.ts'
import { addPartner } from '../../src/core/partners/statements/partner.ts'
import type { JournalLine } from '../../src/capabilities/erasure/decisions/erasure.ts'
import { createLogger } from '../../src/logger.ts'
import { keepIntentsEnded } from '../../src/capabilities/erasure/intents-loop.ts'
import { list } from '../../src/capabilities/erasure/commands/erasure.ts'
import { erasuresInbox } from '../../src/capabilities/erasure/commands/inbox.ts'
import { dismiss } from '../../src/capabilities/erasure/commands/erasure-journal.ts'
import { erase } from '../../src/capabilities/erasure/commands/lead-erasure.ts'
import { contextOf, staff, staffKilled, withoutTemporal } from '../staff/context.ts'
import { atEnd } from '../support/at-end.ts'
import { freshDatabase } from '../support/database.ts'
import { dyingBefore } from '../support/failing-sql.ts'
import { temporaryFolder } from '../support/folder.ts'
import { insertLead } from '../support/insert-lead.ts'
import { LEAD } from '../support/leads.ts'
import { until } from '../support/until.ts'

const ERASING = { by: 'tester', reason: 'borrower_request' as const }

describe('an erasure of which only the intent is known', () => {
  let sql: Sql
  let url: string
  let folder: string
  let partnerId: number
  let tools: ReturnType<typeof erasureTools>
  let lead: number

  beforeAll(async () => {
    ;({ url } = await freshDatabase())
    const orm = await connect(url)
    atEnd(() => orm.close())
    sql = sqlOf(orm)
    await requireDeployment(sql, 'sandbox')
    ;({ id: partnerId } = await addPartner(orm.em.fork(), { name: 'First Lender' }))
  })

  beforeEach(async () => {
    // those of the test before name another journal
    await sql.deleteFrom('erasures').execute()
    await sql.deleteFrom('erasure_intents').execute()
    folder = path.join(temporaryFolder(), 'erasures')
    tools = erasureTools({ ERASURE_JOURNAL: folder })
    lead = await insertLead(sql, partnerId, LEAD, () => '{}')
  })

  const isErased = async (id = lead) => {
    const row = sql.selectFrom('leads').select('erased_at').where('id', '=', id)
    return (await row.executeTakeFirstOrThrow()).erased_at !== null
  }
  const linesOf = async (id = lead) => {
    const lines: JournalLine[] = []
    for await (const line of openJournal(folder).read()) if (line.lead_id === id) lines.push(line)
    return lines
  }
  const stepsOf = async (id = lead) => (await linesOf(id)).map(({ step }) => step)
  const notes = async () => (await sql.selectFrom('erasure_intents').select('id').execute()).length
  const file = () => path.join(folder, readdirSync(folder)[0] ?? '')
  /** As if the process had been killed before it wrote its last lines. */
  const forgetLines = (count: number) => {
    const lines = readFileSync(file(), 'utf8').trimEnd().split('\n')
    writeFileSync(
      file(),
      lines
        .slice(0, -count)
        .map((line) => `${line}\n`)
        .join(''),
    )
  }
  /** As a restore from before the erasure. */
  const goBack = async (id = lead) => {
    const open = { erased_at: null, closed_at: null, close_reason: null, personal: 'sealed' }
    await sql.deleteFrom('erasures').where('lead_id', '=', id).execute()
    await sql.updateTable('leads').set(open).where('id', '=', id).execute()
  }
  /** Holds the audit, so that an erasure waits with everything done but its audit row. */
  const withAuditHeld = (work: () => Promise<void>) =>
    sql.transaction().execute(async (blocking) => {
      await raw`set local idle_in_transaction_session_timeout = 0`.execute(blocking)
      await raw`lock table audit in exclusive mode`.execute(blocking)
      await work()
    })

  it('is never carried out by the journal, before whichever statement it failed', async () => {
    for (let statement = 1, isComplete = false; !isComplete; statement += 1) {
      lead = await insertLead(sql, partnerId, LEAD, () => '{}')
      const { sql: dying, hasDied } = dyingBefore(sql, statement)
      await eraseLeads(dying, [lead], tools, ERASING).catch(() => undefined)
      isComplete = !hasDied()
      await applyJournal(sql, tools)
      expect([statement, await isErased()]).toEqual([statement, isComplete])
      const ends = (await stepsOf()).filter((step) => step !== 'intent')
      expect(ends).toEqual(isComplete ? ['erased'] : ends.filter((step) => step === 'void'))
    }
  })

  it('is not carried out by the journal after it was refused because the audit was locked', async () => {
    await sql.transaction().execute(async (blocking) => {
      await raw`lock table audit in exclusive mode`.execute(blocking)
      await sql.connection().execute(async (impatient) => {
        await raw`set lock_timeout = 200`.execute(impatient)
        await expect(eraseLeads(impatient, [lead], tools, ERASING)).rejects.toThrow('lock timeout')
      })
    })
    expect(await applyJournal(sql, tools)).toMatchObject({ erased: [] })
    expect(await isErased()).toBe(false)
  })
  it('is void after its process was killed before it committed', async () => {
    const settings = { ...withoutTemporal(url), ERASURE_JOURNAL: folder }
    await withAuditHeld(async () => {
      const killed = staffKilled(settings, ['lead', 'erase', `${lead}`, '--reason', 'other'])
      await until(async () => (await stepsOf()).length > 0)
      await killed.kill()
    })
    expect(await notes()).toBe(1)
    // PostgreSQL may still have its transaction
    await until(async () => {
      await endOpenIntents(sql, openJournal(folder))
      return (await stepsOf()).length > 1
    })
    expect(await stepsOf()).toEqual(['intent', 'void'])
    expect(await applyJournal(sql, tools)).toMatchObject({ erased: [], unknown: [] })
    expect([await isErased(), await notes()]).toEqual([false, 0])
  })

  it('is erased again after a restore though its process was killed right after it committed', async () => {
    await eraseLeads(sql, [lead], tools, ERASING)
    forgetLines(1)
    expect(await stepsOf()).toEqual(['intent'])
    expect(await endOpenIntents(sql, openJournal(folder))).toEqual([])
    expect(await stepsOf()).toEqual(['intent', 'erased'])
    await goBack()
    expect(await applyJournal(sql, tools)).toMatchObject({ erased: [lead] })
    expect(await isErased()).toBe(true)
  })

  it('is listed for staff, and not carried out, if the record was restored before anybody ended it', async () => {
    const other = await insertLead(sql, partnerId, LEAD, () => '{}')
    await eraseLeads(sql, [lead, other], tools, ERASING)
    forgetLines(2)
    await goBack()
    await goBack(other)
    expect(await applyJournal(sql, tools)).toMatchObject({ erased: [], unknown: [lead, other] })
    expect([await isErased(), await stepsOf()]).toEqual([false, ['intent']])

    const context = await contextOf({ ...withoutTemporal(url), ERASURE_JOURNAL: folder })
    expect((await list(context)).text).toContain('nobody knows whether they were carried out')
    expect((await list(context)).json.unknown).toMatchObject([{ lead_id: lead }, { lead_id: other }])
    await dismiss(context, lead)
    await expect(dismiss(context, lead)).rejects.toThrow('It is known of lead')
    await erase(context, other, { reason: 'other' })
    expect((await list(context)).json.unknown).toEqual([])
    expect(await endOpenIntents(sql, openJournal(folder))).toEqual([])
    expect([await stepsOf(), await isErased()]).toEqual([['intent', 'void'], false])
    expect(await stepsOf(other)).toEqual(['intent', 'intent', 'erased', 'void'])
    await context.close()
  })

  it('is to be dismissed, says the inbox, if the record was restored from before its lead', async () => {
    const gone = await insertLead(sql, partnerId, LEAD, () => '{}')
    await eraseLeads(sql, [lead, gone], tools, ERASING)
    forgetLines(2)
    await goBack()
    await goBack(gone)
    for (const table of ['deliveries', 'lead_events'] as const)
      await sql.deleteFrom(table).where('lead_id', '=', gone).execute()
    await sql.deleteFrom('leads').where('id', '=', gone).execute()
    const context = await contextOf({ ...withoutTemporal(url), ERASURE_JOURNAL: folder })
    const { items } = await erasuresInbox.find(context, 10)
    expect(items.map(({ mend }) => mend)).toEqual([
      `npm run staff -- lead erase ${lead} --reason borrower_request`,
      `npm run staff -- erasure dismiss ${gone}`,
    ])
    expect((await dismiss(context, gone)).text).toBe(
      `Nothing waits for a decision about lead ${gone} any more.`,
    )
    expect((await erasuresInbox.find(context, 10)).items).toHaveLength(1)
    await context.close()
  })

  it('is to be dismissed, and not another lead erased, if that has got its id since', async () => {
    await eraseLeads(sql, [lead], tools, ERASING)
    forgetLines(1)
    await goBack()
    const other = `evt_${uuidv7()}`
    await sql.deleteFrom('deliveries').where('lead_id', '=', lead).execute()
    await sql.updateTable('lead_events').set({ id: other }).where('lead_id', '=', lead).execute()
    const context = await contextOf({ ...withoutTemporal(url), ERASURE_JOURNAL: folder })
    const { items } = await erasuresInbox.find(context, 10)
    expect(items.map(({ mend }) => mend)).toEqual([`npm run staff -- erasure dismiss ${lead}`])
    expect((await list(context)).text).toMatch(new RegExp(`^${lead} .* no$`, 'm'))
    expect((await dismiss(context, lead)).text).toMatch(/^Nothing waits for a decision/)
    expect(await isErased()).toBe(false)
    await context.close()
  })

  it('cannot be listed without the journal, which is no fault of PostgreSQL', async () => {
    mkdirSync(path.join(folder, 'x.jsonl'), { recursive: true })
    const environment = { ...withoutTemporal(url), ERASURE_JOURNAL: folder }
    const { code, stderr } = await staff(environment, ['erasure', 'list'])
    expect(code).toBe(1)
    expect(stderr).toMatch(
      /^A file cannot be used \(EISDIR: .*\): let your user read and write it, or .*ERASURE_JOURNAL/,
    )
    const context = await contextOf(environment)
    expect((await erasuresInbox.find(context, 10)).items).toMatchObject([
      { mend: 'correct ERASURE_JOURNAL, or let your user read the folder' },
    ])
  })

  it('is counted and logged by a worker while nobody has decided', async () => {
    await eraseLeads(sql, [lead], tools, ERASING)
    forgetLines(1)
    await goBack()
    const log = createLogger('silent', 'worker')
    const registry = new Registry()
    const stopping = new AbortController()
    const config = { ERASURE_JOURNAL: folder }
    const loop = keepIntentsEnded({ sql, config, registry, log, signal: stopping.signal })
    const metric = () => registry.getSingleMetricAsString('referrals_erasures_unknown')
    await until(async () => !(await metric()).endsWith('referrals_erasures_unknown 0'))
    expect(await metric()).toMatch(/^referrals_erasures_unknown 1$/m)
    stopping.abort()
    await loop
  })

  it('is left alone by another worker while its transaction is under way', async () => {
    let erasing: Promise<number[]> | undefined
    await withAuditHeld(async () => {
      // it waits for as long as the checks take
      erasing = sql.connection().execute(async (patient) => {
        await raw`set lock_timeout = 0`.execute(patient)
        const erased = await eraseLeads(patient, [lead], tools, ERASING)
        await raw`reset lock_timeout`.execute(patient)
        return erased
      })
      await until(async () => (await stepsOf()).length > 0)
      expect(await endOpenIntents(sql, openJournal(folder, 'another'))).toEqual([])
      expect(await stepsOf()).toEqual(['intent'])
    })
    expect(await erasing).toEqual([lead])
    expect(await stepsOf()).toEqual(['intent', 'erased'])
  })

  /** As if a process had been killed after it wrote its intents, and before it committed. */
  const leaveIntents = async (ids: number[]) => {
    const intent = randomUUID()
    const { id: deployment } = await sql.selectFrom('deployment').select('id').executeTakeFirstOrThrow()
    await sql.insertInto('erasure_intents').values({ id: intent }).execute()
    const at = new Date().toISOString()
    const lineOf = (id: number): JournalLine => ({
      step: 'intent',
      intent,
      deployment,
      lead_id: id,
      event_id: `evt_of_${id}`,
      at,
    })
    await openJournal(folder).append(ids.map(lineOf))
  }

  it('is void for each of its leads, also for one that another transaction has locked meanwhile', async () => {
    const locked = await insertLead(sql, partnerId, LEAD, () => '{}')
    await leaveIntents([lead, locked])
    await sql.transaction().execute(async (trx) => {
      await trx.selectFrom('leads').select('id').where('id', '=', locked).forUpdate().execute()
      expect(await endOpenIntents(sql, openJournal(folder))).toEqual([])
    })
    expect([await stepsOf(), await stepsOf(locked), await notes()]).toEqual([
      ['intent', 'void'],
      ['intent'],
      1,
    ])
    expect(await endOpenIntents(sql, openJournal(folder))).toEqual([])
    expect([await stepsOf(locked), await notes()]).toEqual([['intent', 'void'], 0])
  })

  it('is void for all of its leads, of which there are more than are looked up at a time', async () => {
    const gone = Array.from({ length: 201 }, (_, index) => 1_000_000 + index)
    await leaveIntents(gone)
    expect(await endOpenIntents(sql, openJournal(folder))).toEqual([])
    expect([await stepsOf(gone.at(-1)), await notes()]).toEqual([['intent', 'void'], 0])
  })

  it('is ended by the record where the line of its end was cut in the middle', async () => {
    await eraseLeads(sql, [lead], tools, ERASING)
    const [, end = ''] = readFileSync(file(), 'utf8').split('\n')
    forgetLines(1)
    appendFileSync(file(), end.slice(0, -20))
    await Promise.all([1, 2].map(() => endOpenIntents(sql, openJournal(folder))))
    expect(new Set(await stepsOf())).toEqual(new Set(['intent', 'erased']))
  })

  it('is ended by another machine, whose file is read first', async () => {
    await eraseLeads(sql, [lead], { ...tools, journal: openJournal(folder, 'z') }, ERASING)
    forgetLines(1)
    expect(await endOpenIntents(sql, openJournal(folder, 'a'))).toEqual([])
    const lines = readdirSync(folder).length
    expect(await endOpenIntents(sql, openJournal(folder, 'a'))).toEqual([])
    expect([lines, await stepsOf()]).toEqual([2, ['erased', 'intent']])
  })
})
