import { ApplicationFailure } from '@temporalio/common'
import { createTransport } from 'nodemailer'
import type { Logger } from 'pino'
import type { WorkerObserver } from '../src/observe/worker-metrics.ts'
import type { Environment } from '../src/values.ts'
import { again, millisecondsSince, workflowFields } from './activity-context.ts'

export interface Mail {
  to: string
  subject: string
  text: string
  /** The same for every repeat, so that mail programs show the email once. */
  messageId: string
  /** Where an answer goes, if not to the sender. */
  replyTo?: string | undefined
  /** Whom it is about, for its line in the log: ids only, nobody's address. */
  about: { partner_id: number; lead_id?: number; request_id?: string }
}

export type Mailer = ReturnType<typeof createMailer>

interface MailSettings {
  environment: Environment
  /** The deployment's id. */
  deployment: string
  smtpUrl: string | undefined
  from: string
  allowDomains: readonly string[]
  /** How many mails are sent at a time: a mail server that hangs leaves places to activities that need none. */
  mostAtATime: number
}

const AGAIN_MS = 20_000

/**
 * Sends over SMTP, with a count and a line in the log for each mail. A sandbox sends only to `allowDomains`: to all (`*`)
 * where the server is a catcher, and else never to real people.
 */
export function createMailer(
  settings: MailSettings,
  { observe, log }: { observe: Pick<WorkerObserver, 'mailed'>; log: Pick<Logger, 'info'> },
) {
  const { environment, deployment, smtpUrl, from, allowDomains, mostAtATime } = settings
  const transport =
    smtpUrl === undefined
      ? undefined
      : createTransport({ url: smtpUrl, connectionTimeout: 10_000, socketTimeout: 60_000 })
  const isNamed = (address: string) =>
    allowDomains.some((domain) => domain === '*' || address.toLowerCase().endsWith(`@${domain}`))
  const mayMail = (address: string) =>
    transport !== undefined && (environment === 'production' || isNamed(address))
  let running = 0
  return {
    /** Whether mails to an address leave this service at all. */
    mayMail,

    /** The Message-ID of a mail with this id. No other deployment uses it: two may mail the same people. */
    // short, because longer lines are folded, which not every mail system undoes
    messageId: (id: string) => `<${id}@${deployment.slice(0, 8)}.partner-referral-service>`,

    /** Does `work`, which sends a mail, unless `mostAtATime` are in flight: then it is retried later, with jitter. */
    async inPlace<Result>(work: () => Promise<Result>): Promise<Result> {
      if (running >= mostAtATime) throw again('too many mails are in flight', AGAIN_MS * (1 + Math.random()))
      running += 1
      try {
        return await work()
      } finally {
        running -= 1
      }
    },

    /** @throws {ApplicationFailure} without the address: a mail server quotes it, and Temporal keeps errors. */
    async send({ to: address, about, ...content }: Mail): Promise<'sent' | 'not_allowed'> {
      const began = performance.now()
      const tell = (outcome: 'sent' | 'failed' | 'not_allowed', reason?: string) => {
        observe.mailed(outcome === 'failed' ? 'refused' : outcome)
        const fields = mailFields({ about, ...content }, outcome)
        log.info({ ...fields, reason, duration_ms: millisecondsSince(began) }, 'mail')
      }
      const outcome = mayMail(address) ? 'sent' : 'not_allowed'
      try {
        if (outcome === 'sent') await transport?.sendMail({ from, to: { name: '', address }, ...content })
      } catch (error) {
        const reason = reasonOf(error as SmtpError)
        tell('failed', reason)
        throw ApplicationFailure.create({
          message: `the mail could not be sent: ${reason}`,
          type: 'MailRefused',
        })
      }
      tell(outcome)
      return outcome
    },
  }
}

/** The log's fields of a mail, sent or not. */
export const mailFields = (
  { messageId, about }: Pick<Mail, 'messageId' | 'about'>,
  outcome: 'sent' | 'failed' | 'not_allowed' | 'address_limit',
) => ({
  ...about,
  // as mail servers log it
  message_id: messageId.slice(1, -1),
  outcome,
  ...workflowFields(),
})

interface SmtpError extends Error {
  responseCode?: number
  code?: string
  /** `CONN` while connecting: the message holds no address yet. */
  command?: string
}

function reasonOf({ responseCode, code = 'unknown reason', command, message }: SmtpError): string {
  if (responseCode !== undefined) return String(responseCode)
  return command === 'CONN' ? `${code} (${message.slice(0, 200)})` : code
}
