import type { Logger } from 'pino'
import { createMailer, type Mailer } from '../activities/mailer.ts'
import { toldMailer } from '../activities/told-mailer.ts'
import type { Config } from './config.ts'
import type { WorkerObserver } from './metrics/worker.ts'

/** What a worker sends emails with. */
export function mailerOf(
  config: Config<'worker'>,
  deployment: string,
  told: { observe: Pick<WorkerObserver, 'mailed'>; log: Logger },
): Mailer {
  const mailer = createMailer({
    environment: config.ENVIRONMENT,
    deployment,
    smtpUrl: config.SMTP_URL,
    isCatcher: config.SMTP_CATCHER,
    from: config.MAIL_FROM,
    allowDomains: config.MAIL_ALLOW_DOMAINS,
  })
  return toldMailer(mailer, told)
}
