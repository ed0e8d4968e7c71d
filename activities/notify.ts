import type { Logger } from 'pino'
import { markSent, noticeFacts, type UnsentNotice, unsentNotices } from '../src/db/endpoints/notices.ts'
import type { Sql } from '../src/db/orm.ts'
import { partnerOfEndpoint } from '../src/db/endpoints/review.ts'
import type { Mailer } from './mailer.ts'
import { describeNotice } from './notice-mail.ts'

interface Dependencies {
  sql: Sql
  mailer: Mailer
  staffEmail: string | undefined
  log: Logger
}

/**
 * Mails the notices that are owed to an endpoint's partner and to staff. A crash between sending and marking repeats a
 * mail under the same Message-ID.
 */
export function notifyActivity({ sql, mailer, staffEmail, log }: Dependencies) {
  const send = async (partnerId: number, notice: UnsentNotice): Promise<void> => {
    const facts = await noticeFacts(sql, partnerId, notice.eventId)
    const { subject, forPartner, forStaff } = describeNotice(partnerId, notice.kind, facts)
    const id = `notice-${partnerId}-${notice.kind}-${notice.hour.getTime()}`
    const mail = async (to: string | null | undefined, who: string, text: string) => {
      if (!to) return 'no_address'
      return mailer({ to, subject, text, messageId: `<${id}-${who}@partner-referral-service>` })
    }
    const partner = await mail(facts.contact_email, 'partner', forPartner)
    const staff = await mail(staffEmail, 'staff', forStaff)
    await markSent(sql, partnerId, notice)
    log.warn(
      { notice: notice.kind, partner_id: partnerId, event_id: notice.eventId, mail: { partner, staff } },
      subject,
    )
  }

  return async (endpointId: number): Promise<number> => {
    const partnerId = await partnerOfEndpoint(sql, endpointId)
    const notices = await unsentNotices(sql, partnerId)
    for (const notice of notices) await send(partnerId, notice)
    return notices.length
  }
}
