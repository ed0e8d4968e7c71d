import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { sql as raw } from 'kysely'
import { createMailer, type Mailer } from '../../activities/mailer.ts'
import { createOnboardingMails } from '../../activities/onboarding-mails.ts'
import { claimOnboardingMail } from '../../src/leads/onboarding-mail.ts'
import type { Sql } from '../../src/database/sql.ts'
import { insertLead } from '../support/insert-lead.ts'
import { LEAD } from '../support/leads.ts'
import { startMailServer } from '../support/mail-server.ts'
import { openDatabase } from '../support/open-database.ts'
import { testKeys } from '../support/test-keys.ts'
import { until } from '../support/until.ts'

describe('an onboarding mail', () => {
  let sql: Sql
  let partnerId: number
  let mailServer: Awaited<ReturnType<typeof startMailServer>>

  beforeAll(async () => {
    ;({ sql, partnerId } = await openDatabase())
    mailServer = await startMailServer()
  })

  beforeEach(() => {
    mailServer.mails.length = 0
    mailServer.answering = Promise.resolve()
  })

  let addresses = 0
  /** Each with an address of its own, which may be mailed. */
  const newLead = () =>
    insertLead(sql, partnerId, { ...LEAD, email: `b${(addresses += 1)}@example.com` }, () => '{}')
  const toServer = (smtpUrl: string | undefined) =>
    createMailer({
      environment: 'sandbox',
      deployment: 'test',
      smtpUrl,
      isCatcher: true,
      from: 'us@example.com',
      allowDomains: [],
    })
  /** As one process has it. */
  const startWorker = (mailer: Mailer = toServer(mailServer.url)) =>
    createOnboardingMails({ sql, encryptionKeys: testKeys, mailer })
  const claimsOf = (leadId: number) =>
    sql.selectFrom('onboarding_mails').selectAll().where('lead_id', '=', leadId).execute()
  const leasesEnd = () =>
    sql
      .updateTable('onboarding_mails')
      .set({ sending_until: raw<Date>`clock_timestamp()` })
      .where('sending_until', 'is not', null)
      .execute()
  const messageIds = () => mailServer.mails.map(({ content }) => /^Message-ID: (.+)\r$/m.exec(content)?.[1])

  it('is sent once, though two workers are asked for it while the mail server takes its time', async () => {
    const answering = Promise.withResolvers<void>()
    mailServer.answering = answering.promise
    const leads: number[] = []
    for (let count = 0; count < 6; count += 1) leads.push(await newLead())
    const [one, other] = [startWorker(), startWorker()]
    const sending = leads.map((lead) => one.send(lead))
    await until(async () => mailServer.mails.length === leads.length)
    const late = await Promise.allSettled(leads.map((lead) => other.send(lead)))
    for (const result of late)
      expect(result).toMatchObject({
        reason: { message: 'another worker is sending it', category: 'BENIGN' },
      })
    answering.resolve()
    expect(new Set(await Promise.all(sending))).toEqual(new Set(['sent']))
    for (const lead of leads) expect(await other.send(lead)).toBe('already_sent')
    expect(mailServer.mails).toHaveLength(leads.length)
  })

  it('is sent once, though two workers begin at the same time', async () => {
    const leads: number[] = []
    for (let count = 0; count < 6; count += 1) leads.push(await newLead())
    const workers = [startWorker(), startWorker()]
    await Promise.allSettled(leads.flatMap((lead) => workers.map((worker) => worker.send(lead))))
    expect(new Set(messageIds()).size).toBe(leads.length)
    expect(mailServer.mails).toHaveLength(leads.length)
  })

  it('is for another worker once the lease of one that was killed has run out', async () => {
    const lead = await newLead()
    const claim = { leadId: lead, partnerId, addressHashes: ['of an address'] }
    expect(await claimOnboardingMail(sql, claim)).toMatchObject({ kind: 'leased' })
    const worker = startWorker()
    await expect(worker.send(lead)).rejects.toMatchObject({ nextRetryDelay: 10_000 })
    await leasesEnd()
    expect(await worker.send(lead)).toBe('sent')
    expect(messageIds()).toEqual([`<onboarding-${lead}@test.partner-referral-service>`])
  })

  it('keeps its Message-ID if a worker that was thought dead has sent it too, and the lease of the other ends', async () => {
    const lead = await newLead()
    const answering = Promise.withResolvers<void>()
    mailServer.answering = answering.promise
    const [frozen, other] = [startWorker(), startWorker()]
    const first = frozen.send(lead)
    await until(async () => mailServer.mails.length === 1)
    await leasesEnd()
    const second = other.send(lead)
    await until(async () => mailServer.mails.length === 2)
    answering.resolve()
    expect(await Promise.all([first, second])).toEqual(['sent', 'sent'])
    expect(new Set(messageIds()).size).toBe(1)
    expect(await claimsOf(lead)).toMatchObject([{ sending_until: null }])
    expect(await frozen.send(lead)).toBe('already_sent')
  })

  it('is given up by the mail server’s fault seven days after it was claimed', async () => {
    const lead = await newLead()
    const nowhere = startWorker(toServer('smtp://127.0.0.1:1'))
    const claimedAgo = (days: number) =>
      sql
        .updateTable('onboarding_mails')
        .set({ claimed_at: raw<Date>`clock_timestamp() - ${days} * interval '1 day'`, sending_until: null })
        .where('lead_id', '=', lead)
        .execute()
    await expect(nowhere.send(lead)).rejects.toMatchObject({ type: 'MailRefused', nonRetryable: false })
    await claimedAgo(6)
    await expect(nowhere.send(lead)).rejects.toMatchObject({ nonRetryable: false })
    await claimedAgo(8)
    await expect(nowhere.send(lead)).rejects.toMatchObject({
      nonRetryable: true,
      message: expect.stringMatching(/^given up after 7 days: the mail could not be sent/),
    })
  })

  it('takes only so many places while the mail server hangs', async () => {
    const answering = Promise.withResolvers<void>()
    mailServer.answering = answering.promise
    const worker = createOnboardingMails({
      sql,
      encryptionKeys: testKeys,
      mailer: toServer(mailServer.url),
      mostAtATime: 2,
    })
    const sending = [worker.send(await newLead()), worker.send(await newLead())]
    await until(async () => mailServer.mails.length === 2)
    const third = await newLead()
    await expect(worker.send(third)).rejects.toMatchObject({ category: 'BENIGN' })
    expect(await claimsOf(third)).toEqual([])
    answering.resolve()
    expect(await Promise.all(sending)).toEqual(['sent', 'sent'])
    expect(await worker.send(third)).toBe('sent')
  })

  it('leaves another worker’s lease alone when its own attempt fails late', async () => {
    const lead = await newLead()
    const answering = Promise.withResolvers<void>()
    const send = async () => answering.promise.then(() => 'sent' as const)
    const failing = startWorker({ messageId: String, mayMail: () => true, send })
    const first = failing.send(lead)
    first.catch(() => {})
    await until(async () => (await claimsOf(lead)).length === 1)
    await leasesEnd()
    const claim = { leadId: lead, partnerId, addressHashes: ['of an address'] }
    expect(await claimOnboardingMail(sql, claim)).toMatchObject({ kind: 'leased' })
    answering.reject(new Error('the mail server went away'))
    await expect(first).rejects.toThrow('went away')
    await expect(startWorker().send(lead)).rejects.toThrow('another worker is sending it')
  })

  it('leaves no trace of an address when the lead is erased while it is claimed', async () => {
    const lead = await newLead()
    const [locked, erasing] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const erasure = sql.transaction().execute(async (trx) => {
      await trx
        .updateTable('leads')
        .set({ erased_at: new Date(), personal: null })
        .where('id', '=', lead)
        .execute()
      locked.resolve()
      await erasing.promise
    })
    await locked.promise
    const sending = startWorker().send(lead)
    await until(async () => {
      const { rows } = await raw`select from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`.execute(sql)
      return rows.length > 0
    })
    erasing.resolve()
    await erasure
    expect(await sending).toBe('already_sent')
    expect(await claimsOf(lead)).toEqual([])
    expect(mailServer.mails).toEqual([])
  })

  it('is not prepared where no mail may be sent: nothing is kept of its address', async () => {
    const lead = await newLead()
    expect(await startWorker(toServer(undefined)).send(lead)).toBe('not_allowed')
    expect(await claimsOf(lead)).toEqual([])
  })
})
