import type { Logger } from 'pino'
import { loggedMailer } from '../activities/logged-mailer.ts'
import { countedMailer, createMailer, type Mailer } from '../activities/mailer.ts'
import type { Config } from './config.ts'
import type { WorkerObserver } from './metrics/worker.ts'

/** What a worker sends emails with. */
export function mailerOf(
  config: Config<'worker'>,
  { observe, log }: { observe: Pick<WorkerObserver, 'mailed'>; log: Logger },
): Mailer {
  const mailer = createMailer({
    environment: config.ENVIRONMENT,
    smtpUrl: config.SMTP_URL,
    isCatcher: config.SMTP_CATCHER,
    from: config.MAIL_FROM,
    allowDomains: config.MAIL_ALLOW_DOMAINS,
  })
  return loggedMailer(countedMailer(mailer, observe), log)
}
