import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { sql as raw } from 'kysely'
import type { Sql } from '../../src/database/sql.ts'
import { addPartner } from '../../src/partners/partner.ts'
import { insertLead } from '../support/insert-lead.ts'
import { LEAD } from '../support/leads.ts'
import { startMailServer } from '../support/mail-server.ts'
import { mailerTo, onboardingMailsOf } from '../support/mailer.ts'
import { openDatabase } from '../support/open-database.ts'
import { testKeys } from '../support/test-keys.ts'
import { until } from '../support/until.ts'

describe('an onboarding mail', () => {
  let database: Awaited<ReturnType<typeof openDatabase>>
  let sql: Sql
  let mailServer: Awaited<ReturnType<typeof startMailServer>>
  let partnerId: number
  let address: string

  beforeAll(async () => {
    database = await openDatabase()
    ;({ sql } = database)
    mailServer = await startMailServer()
  })

  beforeEach(async () => {
    partnerId = await newPartner()
    address = `b${partnerId}@example.com`
    mailServer.mails.length = 0
    mailServer.refusing = false
    mailServer.answering = Promise.resolve()
  })

  const newPartner = async (name = 'First Lender') => (await addPartner(sql, { name })).id
  const newLead = (email = address, partner = partnerId, firstName = 'Ada') =>
    insertLead(sql, partner, { ...LEAD, first_name: firstName, email }, () => '{}')
  /** The sender of one process. */
  const startWorker = (
    options: Parameters<typeof onboardingMailsOf>[2] = {},
    mailer = mailerTo(mailServer.url),
  ) => onboardingMailsOf(sql, mailer, options).send
  const noted = async (leadId: number) => {
    const lead = sql.selectFrom('leads').select('onboarding').where('id', '=', leadId)
    return (await lead.executeTakeFirstOrThrow()).onboarding
  }
  const timePasses = (interval: string) =>
    sql
      .updateTable('leads')
      .set({ onboarding_at: raw<Date>`onboarding_at - ${interval}::interval` })
      .execute()
  const messageIds = () => mailServer.mails.map(({ content }) => /^Message-ID: (.+)\r$/m.exec(content)?.[1])

  it('goes to the borrower once, with a Message-ID that is the same at every attempt', async () => {
    const lead = await newLead()
    const send = startWorker()
    mailServer.refusing = true
    // without the address, which the server quotes
    await expect(send(lead)).rejects.toThrow(/^the mail could not be sent: 550$/)
    expect(mailServer.refused).toContain(address)
    mailServer.refusing = false
    expect([await send(lead), await send(lead)]).toEqual(['sent', 'already_sent'])
    expect(mailServer.mails.map(({ to }) => to)).toEqual([address])
    expect(messageIds()).toEqual([`<onboarding-${lead}@test.partner-referral-service>`])
  })

  it('says where an answer goes, and shows names without anything that can be clicked', async () => {
    const footer = 'Example Inc., 1 Main Street\nTo get no more: write to us'
    const partner = await newPartner('Lender evil.example https://evil.example/x')
    const lead = await newLead(address, partner, 'Ada evil。example www.evil.example mallory@evil.example')
    await startWorker({ letterhead: { replyTo: 'help@example.com', footer } })(lead)
    const { content } = mailServer.mails[0]!
    expect(content).toMatch(/^Reply-To: help@example\.com\r$/m)
    expect(content).toMatch(/--\r\nExample Inc\., 1 Main Street\r\nTo get no more: write to us\s*$/)
    expect(content).toContain('Hello Ada,')
    expect(content).toContain('Lender has referred you to us')
    expect(content.split('\r\n\r\n')[1]).not.toMatch(/evil|www|https?:|@/)
  })

  it('is not prepared where no mail may be sent: nothing is kept of its address', async () => {
    const lead = await newLead()
    expect(await startWorker({}, mailerTo(undefined))(lead)).toBe('not_allowed')
    expect(await noted(lead)).toBeNull()
  })

  it('is one of at most three a day to an address, whoever refers it, in whichever worker', async () => {
    const partners = await Promise.all(Array.from({ length: 6 }, () => newPartner()))
    const leads = await Promise.all(partners.map((partner) => newLead(address, partner)))
    const workers = [startWorker(), startWorker()]
    const outcomes = await Promise.all(leads.map((lead, index) => workers[index % 2]!(lead)))
    expect(outcomes.toSorted()).toEqual([
      ...Array.from({ length: 3 }, () => 'address_limit'),
      ...Array.from({ length: 3 }, () => 'sent'),
    ])
    expect(mailServer.mails).toHaveLength(3)
    await timePasses('1 day')
    expect(await startWorker()(await newLead())).toBe('sent')
  })

  it('counts if it was sent or is being sent, under every key and however the address is written', async () => {
    const bob = `bob${partnerId}@gmail.com`
    mailServer.refusing = true
    for (let count = 0; count < 3; count += 1)
      await expect(startWorker()(await newLead(bob))).rejects.toThrow('could not be sent')
    mailServer.refusing = false
    expect(await startWorker()(await newLead(bob))).toBe('sent')
    const newer = startWorker({ encryptionKeys: [Buffer.alloc(32, 8), ...testKeys] })
    for (const email of [bob.toUpperCase(), `b.o.b${partnerId}+x@googlemail.com`])
      expect(await newer(await newLead(email))).toBe('sent')
    expect(await newer(await newLead(bob))).toBe('address_limit')
  })

  it('is sent once, though another worker is asked for it while the mail server takes its time', async () => {
    const answering = Promise.withResolvers<void>()
    mailServer.answering = answering.promise
    const lead = await newLead()
    const [one, other] = [startWorker(), startWorker()]
    const sending = one(lead)
    await until(async () => mailServer.mails.length === 1)
    await expect(other(lead)).rejects.toMatchObject({
      message: 'another worker is sending it',
      category: 'BENIGN',
      nextRetryDelay: 10_000,
    })
    answering.resolve()
    expect([await sending, await other(lead)]).toEqual(['sent', 'already_sent'])
    expect(mailServer.mails).toHaveLength(1)
  })

  it('keeps its Message-ID if a worker that was thought dead has sent it too', async () => {
    const lead = await newLead()
    const answering = Promise.withResolvers<void>()
    mailServer.answering = answering.promise
    const [frozen, other] = [startWorker(), startWorker()]
    const first = frozen(lead)
    await until(async () => mailServer.mails.length === 1)
    await timePasses('11 minutes')
    const second = other(lead)
    await until(async () => mailServer.mails.length === 2)
    answering.resolve()
    expect(await Promise.all([first, second])).toEqual(['sent', 'sent'])
    expect(new Set(messageIds()).size).toBe(1)
    expect(await noted(lead)).toBe('sent')
  })

  it('takes only so many places while the mail server hangs', async () => {
    const answering = Promise.withResolvers<void>()
    mailServer.answering = answering.promise
    const send = startWorker({}, mailerTo(mailServer.url, { mostAtATime: 1 }))
    const sending = send(await newLead())
    await until(async () => mailServer.mails.length === 1)
    const second = await newLead()
    await expect(send(second)).rejects.toMatchObject({ type: 'Again', category: 'BENIGN' })
    expect(await noted(second)).toBeNull()
    answering.resolve()
    expect([await sending, await send(second)]).toEqual(['sent', 'sent'])
  })

  it('leaves no trace of an address when the lead is erased while it is claimed', async () => {
    const lead = await newLead()
    const [locked, erasing] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const erasure = sql.transaction().execute(async (trx) => {
      const erased = { erased_at: new Date(), personal: null }
      await trx.updateTable('leads').set(erased).where('id', '=', lead).execute()
      locked.resolve()
      await erasing.promise
    })
    await locked.promise
    const sending = startWorker()(lead)
    sending.catch(() => {})
    await until(async () => {
      const { rows } = await raw`select from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`.execute(sql)
      return rows.length > 0
    })
    erasing.resolve()
    await erasure
    await expect(sending).rejects.toMatchObject({ type: 'Again' })
    expect([await startWorker()(lead), await noted(lead)]).toEqual(['already_sent', null])
    expect(mailServer.mails).toEqual([])
  })
})
