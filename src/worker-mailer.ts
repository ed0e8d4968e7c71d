import type { Logger } from 'pino'
import { loggedMailer } from '../activities/logged-mailer.ts'
import { createMailer } from '../activities/mailer.ts'
import type { Config } from './config.ts'

/** What a worker sends emails with. */
export function mailerOf(config: Config<'worker'>, log: Logger) {
  const mailer = createMailer({
    environment: config.ENVIRONMENT,
    smtpUrl: config.SMTP_URL,
    isCatcher: config.SMTP_CATCHER,
    from: config.MAIL_FROM,
    allowDomains: config.MAIL_ALLOW_DOMAINS,
  })
  return loggedMailer(mailer, log)
}
