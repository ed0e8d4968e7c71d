import { createTransport } from 'nodemailer'
import type { Environment } from '../src/domain/environment.ts'
import type { Mailer } from './send-onboarding-email.ts'

interface MailSettings {
  environment: Environment
  smtpUrl: string | undefined
  /** Whether the server keeps every mail to itself. */
  isCatcher: boolean
  from: string
  allowDomains: readonly string[]
}

/**
 * Sends over SMTP. A sandbox mails nobody real: only through a catcher, or to the domains that are named
 * (`*` for all).
 */
export function createMailer({ environment, smtpUrl, isCatcher, from, allowDomains }: MailSettings): Mailer {
  if (smtpUrl === undefined) return async () => 'not_allowed'
  const transport = createTransport({ url: smtpUrl, connectionTimeout: 10_000, socketTimeout: 20_000 })
  const mayMail = (address: string) =>
    environment === 'production' ||
    isCatcher ||
    allowDomains.some((domain) => domain === '*' || address.endsWith(`@${domain}`))
  return async ({ to, ...mail }) => {
    if (!mayMail(to.toLowerCase())) return 'not_allowed'
    await transport.sendMail({ from, to: { name: '', address: to }, ...mail })
    return 'sent'
  }
}
