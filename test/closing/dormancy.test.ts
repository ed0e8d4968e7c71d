import { beforeEach, describe, expect, it } from '@jest/globals'
import { sql as raw } from 'kysely'
import { dormancyTeller } from '../../activities/closing/dormancy-mail.ts'
import { createMailer } from '../../activities/mailer.ts'
import { lookNow, lookOnceAMonth } from '../../src/capabilities/closing/dormancy-loop.ts'
import {
  closingsToStart,
  closingToTell,
  stepClosing,
} from '../../src/capabilities/closing/statements/carry-out.ts'
import { setDormancy, stalledLeads } from '../../src/capabilities/closing/statements/dormancy.ts'
import { openClosing } from '../../src/capabilities/closing/statements/open-closing.ts'
import { cancelOwnClosing, requestClosing } from '../../src/capabilities/closing/statements/requests.ts'
import { untoldClosings } from '../../src/capabilities/closing/statements/untold.ts'
import type { Fence } from '../../src/core/database/locks/alone.ts'
import { LeaseLost } from '../../src/core/database/locks/leases.ts'
import type { Sql } from '../../src/core/database/orm.ts'
import { requireDeployment } from '../../src/core/record/statements/deployment.ts'
import { raiseGeneration } from '../../src/core/record/statements/generation.ts'
import { recordMilestones } from '../../src/core/leads/statements/recording.ts'
import { insertLead } from '../support/insert-lead.ts'
import { LEAD } from '../support/leads.ts'
import { startMailServer } from '../support/mail-server.ts'
import { openDatabase } from '../support/open-database.ts'
import { prepareService } from '../support/service.ts'
import { until } from '../support/until.ts'

const STAFF = 'staff@service.example'
const CONTACT = 'tech@lender.example'
const AFTER_DAYS = 365

describe('a lead in which nothing happens', () => {
  let sql: Sql
  let partnerId: number
  let mails: Awaited<ReturnType<typeof startMailServer>>
  let lead: number

  beforeEach(async () => {
    ;({ sql, partnerId } = await openDatabase())
    mails = await startMailServer()
    await setContact(CONTACT)
    lead = await newLead()
    await idleFor(lead, AFTER_DAYS + 1)
  })

  const log = { info: () => {}, warn: () => {} }
  const config = { ENVIRONMENT: 'production' as const, DORMANT_AFTER_DAYS: AFTER_DAYS }
  const setContact = (email: string | null) =>
    sql.updateTable('partners').set({ contact_email: email }).where('id', '=', partnerId).execute()
  const newLead = () => insertLead(sql, partnerId, LEAD, () => '{}')
  const idleFor = (id: number, days: number) =>
    sql
      .updateTable('leads')
      .set({ last_event_at: raw<Date>`last_event_at - ${days} * interval '1 day'` })
      .where('id', '=', id)
      .execute()
  const record = (id: number, name: 'contract_signed' | 'escrow_funded' | 'mortgage_ready') =>
    recordMilestones(sql, id, [{ name, dedupeKey: name }], () => '{}')
  const look = (byDefault = AFTER_DAYS, fence: Fence = async () => {}) =>
    lookOnceAMonth({
      sql,
      config: { ...config, DORMANT_AFTER_DAYS: byDefault },
      tellOfDormancy: dormancyTeller({
        mailer: createMailer({
          environment: 'production',
          deployment: 'test',
          smtpUrl: mails.url,
          isCatcher: false,
          from: 'us@example.com',
          allowDomains: [],
        }),
        staffEmail: STAFF,
        log,
      }),
      fence,
    })
  /** As if that time had passed for the closings, and a new month had begun. */
  const letPass = async (days: number) => {
    const ago = (column: string) => raw<Date>`${raw.ref(column)} - ${days} * interval '1 day'`
    await sql
      .updateTable('closings')
      .set({ due_at: ago('due_at'), told_at: ago('told_at'), canceled_at: ago('canceled_at') })
      .execute()
    await sql
      .updateTable('dormancy_digests')
      .set({ month: raw<string>`month || '-before'` })
      .execute()
  }
  const step = (id = lead) => stepClosing(sql, id)
  const open = (id = lead) => openClosing(sql, id)

  it('is kept once its partner’s leads are not to be closed any more, unless somebody was told', async () => {
    mails.refusing = true
    await look().catch(() => undefined)
    expect(await open()).toMatchObject({ reason: 'dormant', dueAt: null })
    await setDormancy(sql, partnerId, 0)
    mails.refusing = false
    await look()
    expect(await open()).toBeUndefined()
    expect(mails.mails).toEqual([])
    await setDormancy(sql, partnerId, AFTER_DAYS)
    await letPass(AFTER_DAYS)
    await look()
    expect(await open()).toMatchObject({ dueAt: expect.any(Date) })
    await setDormancy(sql, partnerId, 0)
    await look()
    expect(await open()).toMatchObject({ reason: 'dormant' })
  })

  it('is closed 30 days after one email to its partner, which names all of them and no borrower', async () => {
    const other = await newLead()
    await idleFor(other, AFTER_DAYS + 100)
    const fresh = await newLead()
    expect(await look()).toBe(1)
    expect(mails.mails.map(({ to }) => to)).toEqual([CONTACT, STAFF])
    const [toPartner] = mails.mails
    expect(toPartner?.content).toContain('Nothing happens in 2 leads')
    expect(toPartner?.content).toContain(`lead_id: ${lead}, ${other}`)
    expect(toPartner?.content).toContain('"cancel": true')
    expect(toPartner?.content).not.toMatch(/Ada|Miller|555-0100/)
    const days = (((await open())?.dueAt?.getTime() ?? 0) - Date.now()) / 86_400_000
    expect(days).toBeCloseTo(30, 1)
    expect([await open(fresh), await step(), await closingsToStart(sql, 10)]).toEqual([
      undefined,
      undefined,
      [],
    ])
    // nobody is told twice in a month
    expect(await look()).toBe(0)
    expect(mails.mails).toHaveLength(2)
    await letPass(31)
    expect(await closingsToStart(sql, 10)).toEqual(expect.arrayContaining([lead, other]))
    expect(await step()).toEqual({ kind: 'close', reason: 'dormant' })
  })

  it('is told of again after a restore, which may have lost that it was kept, and has no date before that', async () => {
    await look()
    await letPass(31)
    expect(await step()).toEqual({ kind: 'close', reason: 'dormant' })
    await sql.updateTable('closings').set({ begun_at: null }).execute()
    await requireDeployment(sql, 'production')
    await sql.transaction().execute((trx) => raiseGeneration(trx, 'staff'))
    expect(await step()).toBeUndefined()
    expect(await closingToTell(sql, lead)).toBeUndefined()
    expect([await look(), await look()]).toEqual([1, 0])
    expect(mails.mails.map(({ to }) => to)).toEqual([CONTACT, STAFF, CONTACT, STAFF])
    const days = (((await open())?.dueAt?.getTime() ?? 0) - Date.now()) / 86_400_000
    expect(days).toBeCloseTo(30, 1)
  })

  it('has no date before its partner could be told', async () => {
    mails.refusing = true
    expect(await look()).toBe(0)
    expect((await open())?.dueAt).toBeNull()
    expect(await step()).toBeUndefined()
    mails.refusing = false
    expect(await look()).toBe(1)
    expect((await open())?.dueAt).not.toBeNull()
  })

  it('has no date, and is told of again, where a process lost its lease before or after the email', async () => {
    const lost = () => Promise.reject(new LeaseLost('dormancy'))
    await expect(look(AFTER_DAYS, lost)).rejects.toThrow(LeaseLost)
    expect(mails.mails).toEqual([])
    let asked = 0
    const lostAfter = () => (++asked === 1 ? Promise.resolve() : lost())
    await expect(look(AFTER_DAYS, lostAfter)).rejects.toThrow(LeaseLost)
    expect(mails.mails).toHaveLength(2)
    expect((await open())?.dueAt).toBeNull()
    expect(await look()).toBe(1)
    expect((await open())?.dueAt).not.toBeNull()
  })

  it('is told to staff where the partner has no contact', async () => {
    await setContact(null)
    expect(await look()).toBe(1)
    expect(mails.mails.map(({ to }) => to)).toEqual([STAFF])
  })

  it('is kept by a milestone, until nothing has happened for as long again', async () => {
    await look()
    await record(lead, 'contract_signed')
    await letPass(31)
    expect(await step()).toEqual({ kind: 'over' })
    expect(await open()).toBeUndefined()
    expect(await look()).toBe(0)
    expect(await open()).toBeUndefined()
    await letPass(AFTER_DAYS + 1)
    await idleFor(lead, AFTER_DAYS + 1)
    await look()
    expect(await open()).toMatchObject({ reason: 'dormant' })
  })

  it('is kept by its partner, until nothing has happened for as long again', async () => {
    await look()
    const cancel = { partnerId, leadId: lead, canceledBy: 'key 1' }
    expect(await cancelOwnClosing(sql, cancel)).toEqual({ kind: 'open', isCanceled: true })
    await letPass(31)
    expect(await step()).toEqual({ kind: 'over' })
    await look()
    expect(await open()).toBeUndefined()
    await letPass(AFTER_DAYS)
    await look()
    expect(await open()).toMatchObject({ reason: 'dormant' })
  })

  it('is not told of when it was kept before the email', async () => {
    mails.refusing = true
    await look()
    mails.refusing = false
    await record(lead, 'contract_signed')
    await look()
    expect(mails.mails).toEqual([])
    expect(await open()).toBeUndefined()
  })

  it('is closed earlier by a request of its partner', async () => {
    await look()
    const request = {
      partnerId,
      leadId: lead,
      reason: 'withdrew' as const,
      requestedBy: 'key 1',
      delayHours: 24,
    }
    expect(await requestClosing(sql, request)).toMatchObject({ kind: 'requested', reason: 'withdrew' })
    expect(await open()).toMatchObject({ reason: 'withdrew' })
  })

  it('leaves nothing for staff to do when it is closed otherwise before its partner could be told', async () => {
    mails.refusing = true
    await look()
    await sql
      .updateTable('closings')
      .set({ requested_at: raw<Date>`requested_at - interval '2 hours'` })
      .execute()
    expect(await untoldClosings(sql)).toMatchObject([{ partner_id: partnerId, leads: 1 }])
    await sql
      .updateTable('leads')
      .set({ closed_at: new Date(), close_reason: 'withdrew' })
      .where('id', '=', lead)
      .execute()
    expect(await untoldClosings(sql)).toEqual([])
    mails.refusing = false
    await look()
    expect(await open()).toBeUndefined()
  })

  it('stays open once it was funded, or is mortgage ready, or closed, or where that is off', async () => {
    for (const name of ['escrow_funded', 'mortgage_ready'] as const) {
      const id = await newLead()
      await record(id, name)
      await idleFor(id, AFTER_DAYS + 1)
    }
    const closed = { closed_at: new Date(), close_reason: 'withdrew' as const }
    await sql.updateTable('leads').set(closed).where('id', '=', lead).execute()
    await look()
    expect(await sql.selectFrom('closings').select('id').execute()).toEqual([])
    const again = await newLead()
    await idleFor(again, AFTER_DAYS + 1)
    await letPass(0)
    await setDormancy(sql, partnerId, 0)
    await look()
    expect(await open(again)).toBeUndefined()
    await setDormancy(sql, partnerId, null)
    await look(0)
    expect(await open(again)).toBeUndefined()
    // its own days count where the setting is off
    await setDormancy(sql, partnerId, 100)
    await look(0)
    expect(await open(again)).toMatchObject({ reason: 'dormant' })
  })

  it('in a sandbox is found by its own clock, with a date at once', async () => {
    const moved = await newLead()
    const sandbox = { sql, log, config: { ...config, ENVIRONMENT: 'sandbox' as const } }
    const move = (days: number) =>
      sql
        .updateTable('leads')
        .set({ clock_offset: raw<number>`clock_offset + ${days * 86_400}` })
        .where('id', '=', moved)
        .execute()
    await move(AFTER_DAYS - 1)
    expect(await lookNow(sandbox)).toBe(1)
    expect(await open(moved)).toBeUndefined()
    await move(2)
    expect(await lookNow(sandbox)).toBe(1)
    expect(await step(moved)).toBeUndefined()
    await move(31)
    expect(await closingsToStart(sql, 10)).toEqual([moved])
    expect(await step(moved)).toEqual({ kind: 'close', reason: 'dormant' })
  })

  it('is shown to staff once it was funded two years ago', async () => {
    const leads = [await newLead(), await newLead(), await newLead()]
    for (const id of leads) await record(id, 'escrow_funded')
    const [old = 0, ready = 0] = leads
    await sql
      .updateTable('leads')
      .set({ anchor_at: raw<Date>`anchor_at - interval '731 days'` })
      .where('id', 'in', [old, ready])
      .execute()
    await record(ready, 'mortgage_ready')
    expect((await stalledLeads(sql)).map(({ lead_id: id }) => id)).toEqual([old])
  })

  it('is found once by two processes at the same moment', async () => {
    await Promise.all([look(), look()])
    const rows = await sql.selectFrom('closings').select('lead_id').execute()
    expect(rows).toEqual([{ lead_id: lead }])
  })
})

describe('a worker that closes dormant leads', () => {
  it('finds them by itself, and closes them on their day', async () => {
    const service = await prepareService({ DORMANT_AFTER_DAYS: '30' })
    const { id } = await service.addPartner()
    const lead = await insertLead(service.sql, id, LEAD, () => '{}', service.encryptionKeys)
    const moveClock = (days: number) =>
      service.sql
        .updateTable('leads')
        .set({ clock_offset: raw<number>`clock_offset + ${days * 86_400}` })
        .where('id', '=', lead)
        .execute()
    await moveClock(31)
    await service.startWorker()
    await until(async () => (await openClosing(service.sql, lead)) !== undefined)
    const reason = async () => {
      const read = service.sql.selectFrom('leads').select('close_reason').where('id', '=', lead)
      return (await read.executeTakeFirstOrThrow()).close_reason
    }
    expect(await reason()).toBeNull()
    await moveClock(31)
    expect(await until(async () => (await reason()) ?? undefined)).toBe('dormant')
  }, 60_000)
})
