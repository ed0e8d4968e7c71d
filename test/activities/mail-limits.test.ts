import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { sql as raw } from 'kysely'
import { addressHashes } from '../../src/seal.ts'
import { createMailer, fewAtATime } from '../../activities/mailer.ts'
import { createOnboardingMails } from '../../activities/onboarding-mails.ts'
import { retentionDays } from '../../src/config.ts'
import type { Sql } from '../../src/database/sql.ts'
import { addPartner } from '../../src/partners/partner.ts'
import { removeOld } from '../../src/privacy/retention.ts'
import { insertLead } from '../support/insert-lead.ts'
import { LEAD } from '../support/leads.ts'
import { startMailServer } from '../support/mail-server.ts'
import { openDatabase } from '../support/open-database.ts'

const KEY = Buffer.alloc(32, 7)

describe('other mails', () => {
  it('are a few at a time, and the rest are tried again', async () => {
    const answered = Promise.withResolvers<'sent'>()
    const server = { messageId: String, mayMail: () => true, send: async () => answered.promise }
    const mailer = fewAtATime(server, 2)
    const mail = { to: 'staff@example.com', subject: 'One', text: 'One', messageId: 'one' }
    const sending = [mailer.send(mail), mailer.send(mail)]
    await expect(mailer.send(mail)).rejects.toMatchObject({ type: 'Again' })
    answered.resolve('sent')
    expect(await Promise.all(sending)).toEqual(['sent', 'sent'])
    expect(await mailer.send(mail)).toBe('sent')
  })
})

describe('onboarding mails', () => {
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
  })

  const newPartner = async (name = 'First Lender') => (await addPartner(database.orm.em.fork(), { name })).id
  const newLead = (email = address, partner = partnerId, firstName = 'Ada') =>
    insertLead(sql, partner, { ...LEAD, first_name: firstName, email }, () => '{}')
  /** As one worker has it. */
  const startWorker = (encryptionKeys = [KEY]) =>
    createOnboardingMails({
      sql,
      encryptionKeys,
      mailer: createMailer({
        environment: 'sandbox',
        deployment: 'test',
        smtpUrl: mailServer.url,
        isCatcher: true,
        from: 'us@example.com',
        allowDomains: [],
      }),
    }).send
  const aDayPasses = () =>
    sql
      .updateTable('onboarding_mails')
      .set({ claimed_at: raw<Date>`claimed_at - interval '24 hours'` })
      .execute()

  it('are not refused for one that was never sent, and never will be', async () => {
    const send = startWorker()
    const closed = await newLead()
    mailServer.refusing = true
    await expect(send(closed)).rejects.toThrow('could not be sent')
    mailServer.refusing = false
    const close = { closed_at: new Date(), close_reason: 'duplicate' as const }
    await sql.updateTable('leads').set(close).where('id', '=', closed).execute()
    for (let count = 0; count < 3; count += 1) expect(await send(await newLead())).toBe('sent')
    expect(await send(await newLead())).toBe('address_limit')
  })

  it('are at most three a day to a borrower, however the address is written', async () => {
    const send = startWorker()
    const spellings = [address, address.toUpperCase(), address.replace('@', '+more@')]
    for (const email of spellings) expect(await send(await newLead(email))).toBe('sent')
    expect(await send(await newLead())).toBe('address_limit')
    const bob = `bob${partnerId}@gmail.com`
    for (let count = 0; count < 3; count += 1) expect(await send(await newLead(bob))).toBe('sent')
    for (const email of [`b.o.b${partnerId}@gmail.com`, `bob${partnerId}+x@googlemail.com`])
      expect(await send(await newLead(email))).toBe('address_limit')
    expect(mailServer.mails).toHaveLength(6)
    await aDayPasses()
    expect(await send(await newLead())).toBe('sent')
  })

  it('are at most three a day to an address that many partners refer, in whichever worker', async () => {
    const partners = await Promise.all(Array.from({ length: 6 }, () => newPartner()))
    const leads = await Promise.all(partners.map((partner) => newLead(address, partner)))
    const workers = [startWorker(), startWorker()]
    const outcomes = await Promise.all(leads.map((lead, index) => workers[index % 2]!(lead)))
    expect(outcomes.toSorted()).toEqual([
      ...Array.from({ length: 3 }, () => 'address_limit'),
      ...Array.from({ length: 3 }, () => 'sent'),
    ])
    expect(mailServer.mails).toHaveLength(3)
  })

  it('keep their place when the mail server is away', async () => {
    const send = startWorker()
    const leads = [await newLead(), await newLead(), await newLead()]
    mailServer.refusing = true
    for (const lead of leads) await expect(send(lead)).rejects.toThrow('could not be sent')
    mailServer.refusing = false
    expect(await send(await newLead())).toBe('address_limit')
    for (const lead of leads) expect(await send(lead)).toBe('sent')
  })

  it('leave no address behind, only a hash that needs the key, and that for a day', async () => {
    const lead = await newLead()
    await startWorker()(lead)
    const stored = async () =>
      (
        await raw<{ row: string }>`select row_to_json(m)::text as row from onboarding_mails m`.execute(sql)
      ).rows
        .map(({ row }) => row)
        .join('\n')
    expect(await stored()).not.toContain(address.split('@')[0])
    const hashes = async () =>
      (
        await sql.selectFrom('onboarding_mails').select('address_hash').where('lead_id', '=', lead).execute()
      )[0]
    const { address_hash: hash } = (await hashes())!
    expect(hash).toMatch(/^[\w-]{43}$/)
    // another key, with the old one after it, still counts it
    const newer = [Buffer.alloc(32, 8), KEY]
    for (let count = 0; count < 2; count += 1) expect(await startWorker(newer)(await newLead())).toBe('sent')
    expect(await startWorker(newer)(await newLead())).toBe('address_limit')
    expect(addressHashes(address, 'addresses of onboarding mails', newer)).toEqual([
      expect.not.stringMatching(hash!),
      hash,
    ])
    await aDayPasses()
    const config = { ...retentionDays, ERASURE_LOG: undefined }
    expect(await removeOld({ sql, config }, 'mailed_addresses')).toBeGreaterThan(0)
    expect(await hashes()).toEqual({ address_hash: null })
  })

  it('show what partners wrote as names, without anything that can be clicked', async () => {
    const partner = await newPartner('Lender evil.example https://evil.example/x')
    const lead = await newLead(address, partner, 'Ada evil。example www.evil.example mallory@evil.example')
    await startWorker()(lead)
    const [mail] = mailServer.mails
    const [, body = ''] = mail!.content.split('\r\n\r\n')
    expect(mail!.content).toContain('Hello Ada,')
    expect(mail!.content).toContain('Lender has referred you to us')
    expect(body).not.toMatch(/evil|www|https?:|@/)
  })
})
