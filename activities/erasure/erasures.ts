import { activityInfo } from '@temporalio/activity'
import type { Logger } from 'pino'
import { checkErasures } from '../../src/capabilities/erasure/statements/check.ts'
import { eraseLeads } from '../../src/capabilities/erasure/statements/erase.ts'
import type { ErasureTools } from '../../src/capabilities/erasure/statements/journal.ts'
import { erasureToTell, markTold, reviewErasure } from '../../src/capabilities/erasure/statements/requests.ts'
import type { Sql } from '../../src/core/database/orm.ts'
import type { ErasureReview } from '../../src/capabilities/erasure/decisions/erasure.ts'
import { again } from '../again.ts'
import { describeErasure } from './erasure-mail.ts'
import { hasTold, mailBoth, sentBefore } from '../mail-both.ts'
import type { Mailer } from '../mailer.ts'

interface Dependencies {
  sql: Sql
  erasure: ErasureTools
  /** Ends a lead's workflows, by force if asked. @returns whether its own has ended. */
  endWorkflows: (leadId: number, byForce: boolean) => Promise<boolean>
  mailer: Mailer
  staffEmail: string | undefined
  log: Pick<Logger, 'warn'>
}

/** How often a lead's workflow is asked to end before it is terminated: the record has all that it knows. */
const ASKED = 8
/** A request in flight ends within its lease. */
const IN_FLIGHT_MS = 5000
const UNMAILED_MS = 60 * 60 * 1000

/** What the workflow of an erasure does. Each of these may be repeated. */
export function erasureActivities(dependencies: Dependencies) {
  const { sql, erasure, endWorkflows, mailer, staffEmail, log } = dependencies
  return {
    /** `null` if there is none, or it is canceled. */
    reviewErasure: async (leadId: number): Promise<ErasureReview | null> =>
      (await reviewErasure(sql, leadId)) ?? null,

    /** Erases the lead if it is due, not held and not canceled. */
    async eraseLead(leadId: number): Promise<void> {
      await eraseLeads(sql, [leadId], erasure, { by: 'service', reason: 'requested', onlyDue: true })
    },

    async endLead(leadId: number): Promise<void> {
      const { attempt } = activityInfo()
      if (!(await endWorkflows(leadId, attempt > ASKED))) throw again('the lead’s workflow is still running')
    },

    async checkErasure(leadId: number): Promise<void> {
      const left = await checkErasures(sql, [leadId])
      if (left.length > 0) throw again('a request of the lead’s webhooks is in flight', IN_FLIGHT_MS)
    },

    /**
     * Mails partner and staff. A crash before that is noted repeats the emails under the same Message-ID.
     *
     * @throws {ApplicationFailure} "again" while nobody could be told of an erasure that waits for that.
     */
    async tellOfErasure(leadId: number): Promise<void> {
      const facts = await erasureToTell(sql, leadId)
      if (facts === undefined) return
      const texts = describeErasure(facts)
      const about = { partner_id: facts.partnerId, lead_id: leadId }
      const to = { partner: facts.contactEmail, staff: staffEmail }
      // what is told again after a restore is no repeat, which a mailbox might drop
      const id = `erasure-${facts.id}-${facts.generation}`
      const mail = await mailBoth(mailer, { id, ...about }, to, texts, sentBefore())
      log.warn({ notice: 'erasure', ...about, mail }, texts.subject)
      if (facts.isAnnounced && !hasTold(mail)) throw again('nobody could be told by email', UNMAILED_MS)
      await markTold(sql, facts.id, facts.dueAt)
    },
  }
}
