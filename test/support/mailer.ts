import { createMailer, type Mailer } from '../../activities/mailer.ts'
import { createOnboardingMails } from '../../activities/welcome.ts'
import type { Sql } from '../../src/database/sql.ts'
import { createLogger } from '../../src/observe/log.ts'
import { testKeys } from './test-keys.ts'

type Settings = Parameters<typeof createMailer>[0]

const log = createLogger('silent', 'worker')

/** A mailer to a test's mail server, as a sandbox has it, but for `settings`. */
export function mailerTo(smtpUrl: string | undefined, settings: Partial<Settings> = {}): Mailer {
  const sandbox = {
    environment: 'sandbox',
    deployment: 'test',
    from: 'us@example.com',
    allowDomains: ['*'],
    mostAtATime: 10,
  } as const
  const told = { observe: { mailed: () => {} }, log }
  return createMailer({ ...sandbox, smtpUrl, ...settings }, told)
}

type Options = Omit<Parameters<typeof createOnboardingMails>[0], 'sql' | 'mailer'>

/** The onboarding mails of one process. */
export function onboardingMailsOf(sql: Sql, mailer: Mailer, options: Partial<Options> = {}) {
  return createOnboardingMails({
    sql,
    mailer,
    letterhead: {},
    encryptionKeys: testKeys,
    log,
    ...options,
  })
}
