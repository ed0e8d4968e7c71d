import { activityInfo } from '@temporalio/activity'
import type { Logger } from 'pino'
import type { ClosingReview } from '../../src/capabilities/closing/decisions/closing.ts'
import {
  closingToTell,
  markTold,
  reviewClosing,
  stepClosing,
} from '../../src/capabilities/closing/statements/carry-out.ts'
import type { Sql } from '../../src/core/database/orm.ts'
import type { AnyCloseReason } from '../../src/core/leads/decisions/reasons.ts'
import { again } from '../again.ts'
import { hasTold, mailBoth, sentBefore } from '../mail-both.ts'
import type { Mailer } from '../mailer.ts'
import { describeClosing } from './closing-mail.ts'

interface Dependencies {
  sql: Sql
  /** Asks a lead's workflow to close it. */
  askToClose: (leadId: number, reason: AnyCloseReason) => Promise<void>
  mailer: Mailer
  staffEmail: string | undefined
  log: Pick<Logger, 'warn'>
}

/** How often the lead's workflow is asked in a row, and then how rarely: one that is stuck gets few signals. */
const ASKED = 8
const ASKED_AGAIN = 30
const UNMAILED_MS = 60 * 60 * 1000

/** What the workflow of a closing does. Each of these may be repeated. */
export function closingActivities({ sql, askToClose, mailer, staffEmail, log }: Dependencies) {
  return {
    /** `null` if there is none, or it is canceled or over. */
    reviewClosing: async (leadId: number): Promise<ClosingReview | null> =>
      (await reviewClosing(sql, leadId)) ?? null,

    /**
     * Closes the lead if that is due and not canceled.
     *
     * @throws {ApplicationFailure} "again" until the lead's workflow has closed it.
     */
    async carryOutClosing(leadId: number): Promise<void> {
      const step = await stepClosing(sql, leadId)
      if (step?.kind !== 'close') return
      const { attempt } = activityInfo()
      if (attempt <= ASKED || attempt % ASKED_AGAIN === 0) await askToClose(leadId, step.reason)
      throw again('the lead’s workflow has not closed it yet')
    },

    /**
     * Mails partner and staff. A crash before that is noted repeats the emails under the same Message-ID.
     *
     * @throws {ApplicationFailure} "again" while nobody could be told.
     */
    async tellOfClosing(leadId: number): Promise<void> {
      const facts = await closingToTell(sql, leadId)
      if (facts === undefined) return
      const texts = describeClosing(facts)
      const about = { partner_id: facts.partnerId, lead_id: leadId }
      const to = { partner: facts.contactEmail, staff: staffEmail }
      // what is told again after a restore is no repeat, which a mailbox might drop
      const id = `closing-${facts.id}-${facts.generation}`
      const mail = await mailBoth(mailer, { id, ...about }, to, texts, sentBefore())
      log.warn({ notice: 'closing', ...about, mail }, texts.subject)
      if (!hasTold(mail)) throw again('nobody could be told by email', UNMAILED_MS)
      await markTold(sql, facts.id, facts.dueAt)
    },
  }
}
