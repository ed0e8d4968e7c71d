import type { AddressInfo } from 'node:net'
import { beforeAll, describe, expect, it } from '@jest/globals'
import { SMTPServer } from 'smtp-server'
import { createMailer } from '../../activities/mailer.ts'
import { createOnboardingMails } from '../../activities/onboarding-mails.ts'
import { atEnd } from '../support/at-end.ts'
import { insertLead } from '../support/insert-lead.ts'
import type { Sql } from '../../src/database/sql.ts'
import { LEAD } from '../support/leads.ts'
import { startMailServer } from '../support/mail-server.ts'
import { testKeys } from '../support/test-keys.ts'
import { openDatabase } from '../support/open-database.ts'
import { makeCertificate } from '../webhooks/certificate.ts'

const MAIL = { to: 'bea@example.com', subject: 'Welcome', text: 'Hello', messageId: '<1@example.com>' }
const settings = {
  environment: 'sandbox',
  deployment: 'test',
  from: 'us@example.com',
  isCatcher: false,
  allowDomains: [],
} as const
/** A mail server elsewhere, where nothing listens. */
const elsewhere = 'smtp://mail.invalid:25'

describe('the onboarding email', () => {
  let sql: Sql
  let partnerId: number
  let mailServer: Awaited<ReturnType<typeof startMailServer>>

  beforeAll(async () => {
    ;({ sql, partnerId } = await openDatabase())
    mailServer = await startMailServer()
  })

  const newLead = () =>
    sql.transaction().execute((trx) => insertLead(trx, partnerId, LEAD, (facts) => JSON.stringify(facts)))
  const send = () =>
    createOnboardingMails({
      sql,
      encryptionKeys: testKeys,
      mailer: createMailer({ ...settings, smtpUrl: mailServer.url, isCatcher: true }),
    }).send

  it('goes to the borrower once, with a Message-ID that is the same at every attempt', async () => {
    const leadId = await newLead()
    mailServer.refusing = true
    await expect(send()(leadId)).rejects.toThrow('the mail could not be sent')
    mailServer.refusing = false
    expect([await send()(leadId), await send()(leadId)]).toEqual(['sent', 'already_sent'])
    expect(mailServer.mails).toEqual([
      {
        to: LEAD.email,
        content: expect.stringContaining(`<onboarding-${leadId}@test.partner-referral-service>`),
      },
    ])
  })

  it('says where an answer goes, and ends with who writes', async () => {
    const leadId = await newLead()
    const { send: sendOne } = createOnboardingMails({
      sql,
      encryptionKeys: testKeys,
      letterhead: {
        replyTo: 'help@example.com',
        footer: 'Example Inc., 1 Main Street\nTo get no more: help@example.com',
      },
      mailer: createMailer({ ...settings, smtpUrl: mailServer.url, isCatcher: true }),
    })
    await sendOne(leadId)
    const { content } = mailServer.mails.at(-1) ?? {}
    expect(content).toMatch(/^Reply-To: help@example\.com\r$/m)
    expect(content).toMatch(/--\r\nExample Inc\., 1 Main Street\r\nTo get no more: help@example\.com\s*$/)
  })

  it('names no address when the mail server refuses and quotes it', async () => {
    const leadId = await newLead()
    mailServer.refusing = true
    await expect(send()(leadId)).rejects.toThrow(/^the mail could not be sent: 550$/)
    expect(mailServer.refused).toContain(LEAD.email)
  })

  it.each([
    ['without a mail server', () => undefined, []],
    ['through a mail server elsewhere', () => elsewhere, []],
    ['through a mail server on this machine, which may be a relay', () => mailServer.url, []],
    ['to a domain that is not named', () => mailServer.url, ['example.org', 'ample.com']],
  ])('is not sent in a sandbox %s', async (_, smtpUrl, allowDomains) => {
    const mailer = createMailer({ ...settings, smtpUrl: smtpUrl(), allowDomains })
    expect(await mailer.send(MAIL)).toBe('not_allowed')
    expect(mailServer.recipients).not.toContain(MAIL.to)
  })

  it.each([
    ['a sandbox, to a domain that is named', 'sandbox', false, ['example.com']],
    ['a sandbox that names all', 'sandbox', false, ['*']],
    ['a sandbox, to a catcher', 'sandbox', true, []],
    ['production', 'production', false, []],
  ] as const)('is sent in %s', async (_, environment, isCatcher, allowDomains) => {
    const mailer = createMailer({ ...settings, environment, smtpUrl: elsewhere, isCatcher, allowDomains })
    await expect(mailer.send(MAIL)).rejects.toThrow('could not be sent: EDNS')
  })

  it('leaves production not even by its address where STARTTLS is required and the server has none', async () => {
    const required = `${mailServer.url}?requireTLS=true&ignoreTLS=true`
    const mailer = createMailer({ ...settings, environment: 'production', smtpUrl: required })
    await expect(mailer.send({ ...MAIL, to: 'eve@example.com' })).rejects.toThrow('could not be sent: 500')
    expect(mailServer.recipients).not.toContain('eve@example.com')
  })

  it('says why a mail server is not trusted', async () => {
    const { cert, key } = makeCertificate({ host: 'localhost' })
    const server = new SMTPServer({ secure: true, cert, key })
    server.on('error', () => {})
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    atEnd(() => new Promise<void>((resolve) => server.close(() => resolve())))
    const smtpUrl = `smtps://localhost:${(server.server.address() as AddressInfo).port}`
    const mailer = createMailer({ ...settings, environment: 'production', smtpUrl })
    await expect(mailer.send(MAIL)).rejects.toThrow('could not be sent: ESOCKET (self-signed certificate')
  })
})
