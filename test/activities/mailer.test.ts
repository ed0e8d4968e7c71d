import type { AddressInfo } from 'node:net'
import { beforeAll, describe, expect, it } from '@jest/globals'
import { SMTPServer } from 'smtp-server'
import { atEnd } from '../support/at-end.ts'
import { startMailServer } from '../support/mail-server.ts'
import { mailerTo } from '../support/mailer.ts'
import { makeCertificate } from '../webhooks/certificate.ts'

const MAIL = {
  to: 'bea@example.com',
  subject: 'Welcome',
  text: 'Hello',
  messageId: '<1@example.com>',
  about: { partner_id: 1 },
}
/** A mail server elsewhere, where nothing listens. */
const elsewhere = 'smtp://mail.invalid:25'

describe('a mail', () => {
  let mailServer: Awaited<ReturnType<typeof startMailServer>>

  beforeAll(async () => {
    mailServer = await startMailServer()
  })

  it.each([
    ['without a mail server', () => undefined, []],
    ['through a mail server on this machine, which may be a relay', () => mailServer.url, []],
    ['to a domain that is not named', () => mailServer.url, ['example.org', 'ample.com']],
  ])('is not sent in a sandbox %s', async (_, smtpUrl, allowDomains) => {
    const mailer = mailerTo(smtpUrl(), { allowDomains })
    expect(await mailer.send(MAIL)).toBe('not_allowed')
    expect(mailServer.recipients).not.toContain(MAIL.to)
  })

  it.each([
    ['a sandbox, to a domain that is named', { allowDomains: ['example.com'] }],
    ['a sandbox that names all', { allowDomains: ['*'] }],
    ['production', { environment: 'production', allowDomains: [] }],
  ] as const)('is sent in %s', async (_, settings) => {
    const mailer = mailerTo(elsewhere, settings)
    await expect(mailer.send(MAIL)).rejects.toThrow('could not be sent: EDNS')
  })

  it('leaves production not even by its address where STARTTLS is required and the server has none', async () => {
    const required = `${mailServer.url}?requireTLS=true&ignoreTLS=true`
    const mailer = mailerTo(required, { environment: 'production' })
    await expect(mailer.send({ ...MAIL, to: 'eve@example.com' })).rejects.toThrow('could not be sent: 500')
    expect(mailServer.recipients).not.toContain('eve@example.com')
  })

  it('is refused with the reason why a mail server is not trusted', async () => {
    const { cert, key } = makeCertificate({ host: 'localhost' })
    const server = new SMTPServer({ secure: true, cert, key })
    server.on('error', () => {})
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    atEnd(() => new Promise<void>((resolve) => server.close(() => resolve())))
    const mailer = mailerTo(`smtps://localhost:${(server.server.address() as AddressInfo).port}`)
    await expect(mailer.send(MAIL)).rejects.toThrow('could not be sent: ESOCKET (self-signed certificate')
  })
})
