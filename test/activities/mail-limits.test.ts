import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { sql as raw } from 'kysely'
import { addressHashes } from '../../src/core/sealing/address-hash.ts'
import { createMailer, fewAtATime } from '../../activities/mailer.ts'
import { createOnboardingMails } from '../../activities/onboarding-mails.ts'
import type { MailLimits } from '../../src/core/leads/statements/onboarding.ts'
import type { Sql } from '../../src/core/database/orm.ts'
import { addPartner } from '../../src/core/partners/statements/partner.ts'
import { forgetMailedAddresses } from '../../src/core/leads/statements/mailed-addresses.ts'
import { insertLead } from '../support/insert-lead.ts'
import { LEAD } from '../support/leads.ts'
import { startMailServer } from '../support/mail-server.ts'
import { openDatabase } from '../support/open-database.ts'

const KEY = Buffer.alloc(32, 7)
const HOUR_MS = 3_600_000

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
  const startWorker = (limits: Partial<MailLimits> = {}, encryptionKeys = [KEY]) =>
    createOnboardingMails({
      sql,
      encryptionKeys,
      mailLimits: { perAddress: 3, perPartner: 1000, ...limits },
      mailer: createMailer({
        environment: 'sandbox',
        deployment: 'test',
        smtpUrl: mailServer.url,
        isCatcher: true,
        from: 'us@example.com',
        allowDomains: [],
      }),
    }).send
  const later = async (leads: number[]) => {
    const rows = await sql
      .selectFrom('onboarding_mails')
      .select(raw<number>`round(extract(epoch from due_at - clock_timestamp()) / 3600)::int`.as('hours'))
      .where('lead_id', 'in', leads)
      .orderBy('due_at')
      .execute()
    return rows.map(({ hours }) => hours)
  }
  const aDayPasses = () =>
    sql
      .updateTable('onboarding_mails')
      .set({ due_at: raw<Date>`due_at - interval '24 hours'` })
      .execute()

  it('are not refused for one that was never sent, and never will be', async () => {
    const send = startWorker()
    const closed = await newLead()
    mailServer.refusing = true
    await expect(send(closed)).rejects.toThrow('could not be sent')
    mailServer.refusing = false
    const close = { closed_at: new Date(), close_reason: 'duplicate' as const }
    await sql.updateTable('leads').set(close).where('id', '=', closed).execute()
    expect(await send(await newLead())).toBe('sent')
    expect(await send(await newLead())).toBe('repeated')
  })

  it('go to a borrower once a day, however often a partner refers them and however the address is written', async () => {
    const send = startWorker()
    expect(await send(await newLead())).toBe('sent')
    const again = [address, address.toUpperCase(), address.replace('@', '+more@')]
    for (const email of again) expect(await send(await newLead(email))).toBe('repeated')
    const dotted = [`b.o.b${partnerId}@gmail.com`, `bob${partnerId}+x@googlemail.com`]
    expect(await send(await newLead(dotted[0]))).toBe('sent')
    expect(await send(await newLead(dotted[1]))).toBe('repeated')
    expect(mailServer.mails).toHaveLength(2)
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

  it('of a partner’s burst are sent hour by hour, none too early and none lost', async () => {
    const leads: number[] = []
    for (let count = 0; count < 7; count += 1) leads.push(await newLead(`c${partnerId}-${count}@example.com`))
    const workers = [startWorker({ perPartner: 3 }), startWorker({ perPartner: 3 })]
    const results = await Promise.allSettled(leads.map((lead, index) => workers[index % 2]!(lead)))
    const delayed = results.filter((result) => result.status === 'rejected')
    expect(delayed).toHaveLength(4)
    for (const { reason } of delayed) {
      expect(reason).toMatchObject({
        message: 'the partner has used up the mails of this hour',
        category: 'BENIGN',
      })
      expect(Number(reason.nextRetryDelay)).toBeGreaterThan(0.9 * HOUR_MS)
    }
    expect(await later(leads)).toEqual([0, 0, 0, 1, 1, 1, 2])
    expect(mailServer.mails).toHaveLength(3)
    // a retry before its time changes nothing
    await Promise.allSettled(leads.map((lead) => workers[0]!(lead)))
    expect(await later(leads)).toEqual([0, 0, 0, 1, 1, 1, 2])
    await aDayPasses()
    for (const lead of leads) await workers[1]!(lead)
    expect(new Set(mailServer.mails.map(({ to }) => to)).size).toBe(7)
    expect(mailServer.mails).toHaveLength(7)
  })

  it('of a large burst are claimed one at a time, whatever the pool of connections', async () => {
    const leads: number[] = []
    for (let count = 0; count < 40; count += 1)
      leads.push(await newLead(`e${partnerId}-${count}@example.com`))
    const send = startWorker({ perPartner: 10 })
    const results = Promise.allSettled(leads.map((lead) => send(lead)))
    let most = 0
    const claiming = new AbortController()
    void results.then(() => claiming.abort())
    while (!claiming.signal.aborted) {
      const { rows } = await raw<{ claims: number }>`select count(*)::int as claims from pg_stat_activity
        where datname = current_database() and state <> 'idle' and query like '%pg_advisory_xact_lock%'`.execute(
        sql,
      )
      most = Math.max(most, (rows[0]?.claims ?? 0) - 1)
    }
    expect(most).toBeLessThanOrEqual(1)
    expect((await results).filter(({ status }) => status === 'fulfilled')).toHaveLength(10)
    expect((await later(leads)).filter((hours) => hours === 3)).toHaveLength(10)
  })

  it('keep their place when the mail server is away', async () => {
    const send = startWorker({ perPartner: 1 })
    const lead = await newLead()
    mailServer.refusing = true
    await expect(send(lead)).rejects.toThrow('could not be sent')
    mailServer.refusing = false
    await expect(send(await newLead(`d${partnerId}@example.com`))).rejects.toThrow('used up')
    expect(await send(lead)).toBe('sent')
  })

  it('are not limited where the settings say so', async () => {
    const send = startWorker({ perAddress: 0, perPartner: 0 })
    for (let count = 0; count < 5; count += 1) expect(await send(await newLead())).toBe('sent')
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
    expect(await startWorker({}, newer)(await newLead())).toBe('repeated')
    expect(addressHashes(address, 'addresses of onboarding mails', newer)).toEqual([
      expect.not.stringMatching(hash!),
      hash,
    ])
    await aDayPasses()
    expect(await forgetMailedAddresses(sql, 1000)).toBeGreaterThan(0)
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
