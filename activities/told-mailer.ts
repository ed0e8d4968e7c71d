import type { Logger } from 'pino'
import type { MailRefusal } from '../src/core/leads/tables/onboarding-mail.ts'
import type { WorkerObserver } from '../src/metrics/worker.ts'
import { millisecondsSince, workflowFields } from './log-fields.ts'
import type { Mail, Mailer } from './mailer.ts'

interface Told {
  observe: Pick<WorkerObserver, 'mailed'>
  log: Pick<Logger, 'info'>
}

/** Sends as `mailer` does, with a count and a line in the log for each mail. */
export function toldMailer(mailer: Mailer, { observe, log }: Told): Mailer {
  return {
    ...mailer,
    async send(mail) {
      const began = performance.now()
      const tell = (end: MailEnd) =>
        log.info({ ...mailFields(mail, end), duration_ms: millisecondsSince(began) }, 'mail')
      try {
        const outcome = await mailer.send(mail)
        observe.mailed(outcome)
        tell({ outcome })
        return outcome
      } catch (error) {
        observe.mailed('refused')
        // without the address, as `Mailer` has it
        tell({ outcome: 'failed', reason: error instanceof Error ? error.message : String(error) })
        throw error
      }
    },
  }
}

interface MailEnd {
  outcome: 'sent' | 'failed' | 'not_allowed' | MailRefusal
  /** Why it failed. */
  reason?: string
}

/** What the log says of a mail, or of one that was left out. */
export const mailFields = ({ messageId, about }: Pick<Mail, 'messageId' | 'about'>, end: MailEnd) => ({
  ...about,
  // as mail servers log it
  message_id: messageId.slice(1, -1),
  ...end,
  ...workflowFields(),
})
