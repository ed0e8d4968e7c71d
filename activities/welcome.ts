import type { Logger } from 'pino'
import type { Sql } from '../src/database/sql.ts'
import { claimOnboardingMail, noteOnboardingMail, onboardingRecipient } from '../src/leads/onboarding-mail.ts'
import { scenarioOfLead } from '../src/sandbox/lead-time.ts'
import type { ScenarioName } from '../src/sandbox/scenarios.ts'
import type { Environment } from '../src/values.ts'
import { again, retryFor } from './activity-context.ts'
import { createDeliver, type DeliveryDependencies } from './deliver-webhook.ts'
import { type Letterhead, welcomeText } from './mail-texts.ts'
import { type Mailer, mailFields } from './mailer.ts'

/** What succeeded in time. */
export interface Welcome {
  delivered: boolean
  mailed: boolean
  /** The scenario that the lead plays, in a sandbox. */
  scenario?: ScenarioName
}

interface Dependencies extends DeliveryDependencies {
  onboardingMails: OnboardingMails
  environment: Environment
}

/** Begins a lead's life: its first webhook to the partner, and the mail to the borrower. */
export function welcomeActivities({ onboardingMails, environment, ...delivering }: Dependencies) {
  const { sql, attempts, encryptionKeys } = delivering
  const deliver = createDeliver(delivering)
  return {
    /**
     * Tries both at once, and waits a second at most. What has not succeeded by then is left to `deliverWebhook` and
     * `sendOnboardingEmail`, which try for longer.
     */
    welcome: async (leadId: number, partnerId: number): Promise<Welcome> => {
      const sending = deliver(partnerId, { leadId, sequence: 1, trigger: 'scheduled' })
      const [delivered, mailed] = await Promise.all([
        attempts.inTime(sending.then((outcome) => outcome === 'delivered')),
        attempts.inTime(onboardingMails.send(leadId).then(() => true)),
      ])
      if (environment !== 'sandbox') return { delivered, mailed }
      const scenario = await scenarioOfLead(sql, leadId, encryptionKeys)
      return { delivered, mailed, ...(scenario && { scenario }) }
    },

    sendOnboardingEmail: async (leadId: number) => onboardingMails.send(leadId),
  }
}

/** When to look again at a mail that another sender has under way, which takes a second or two. */
const LOOK_AGAIN_MS = 10_000
/** How long to try to record that a mail was sent. */
const WRITE_MS = 20_000

interface MailDependencies {
  sql: Sql
  mailer: Mailer
  letterhead: Letterhead
  encryptionKeys: readonly Buffer[]
  log: Pick<Logger, 'info'>
}

type Outcome = 'sent' | 'already_sent' | 'not_allowed' | 'address_limit'

export type OnboardingMails = ReturnType<typeof createOnboardingMails>

/** The mails that welcome borrowers. A process makes this once: it knows which are under way. */
export function createOnboardingMails(dependencies: MailDependencies) {
  const { sql, mailer, letterhead, encryptionKeys, log } = dependencies
  const underWay = new Set<Promise<unknown>>()

  async function claimAndSend(leadId: number): Promise<Outcome> {
    const recipient = await onboardingRecipient(sql, leadId, encryptionKeys)
    if (recipient === undefined) return 'already_sent'
    const { partner_id: partnerId, request_id: requestId, email } = recipient
    const mail = {
      ...welcomeText(recipient, letterhead),
      to: email,
      messageId: mailer.messageId(`onboarding-${leadId}`),
      about: { partner_id: partnerId, lead_id: leadId, ...(requestId !== null && { request_id: requestId }) },
    }
    // nothing is kept of the address
    if (!mailer.mayMail(email)) return mailer.send(mail)
    const claimed = await claimOnboardingMail(sql, { leadId, email }, encryptionKeys)
    if (claimed === undefined) throw again('another worker is sending it', LOOK_AGAIN_MS)
    if (claimed === 'address_limit') {
      log.info(mailFields(mail, claimed), 'mail')
      return claimed
    }
    const outcome = await mailer.send(mail).catch(async (error: unknown) => {
      // if this is not written, the claim expires
      await noteOnboardingMail(sql, leadId, 'failed').catch(() => {})
      throw error
    })
    // the mail server has it: a short outage of PostgreSQL must not have it sent again
    await retryFor(() => noteOnboardingMail(sql, leadId, 'sent'), WRITE_MS)
    return outcome
  }

  return {
    /**
     * Welcomes a lead's borrower, once, unless the address was mailed often enough. While another process sends it,
     * Temporal retries it.
     *
     * A mail may come twice, with the same Message-ID, if the process ends after the mail server has accepted it and before
     * that is recorded: nobody can know then whether it was sent.
     */
    send: async (leadId: number): Promise<Outcome> => {
      const sending = mailer.inPlace(() => claimAndSend(leadId))
      underWay.add(sending)
      return sending.finally(() => underWay.delete(sending))
    },

    /** Resolves once none is under way. */
    settled: async (): Promise<void> => {
      await Promise.allSettled(underWay)
    },
  }
}
