import type { Logger } from 'pino'
import type { Sql } from '../src/database/sql.ts'
import { markSent, noticeFacts, type UnsentNotice, unsentNotices } from '../src/endpoints/notices.ts'
import { forEachInFlight } from '../src/temporal/in-flight.ts'
import { describeNotice } from './mail-texts.ts'
import type { Mailer } from './mailer.ts'

interface Dependencies {
  sql: Sql
  mailer: Mailer
  /** Who is told about endpoints, besides the partner. */
  staffEmail: string | undefined
  log: Pick<Logger, 'warn'>
}

/**
 * Mails the notices that are owed to a partner, and to staff about it. A crash between sending and marking repeats a mail
 * under the same Message-ID.
 *
 * @throws {ApplicationFailure} once all were tried, if one was refused.
 */
export function notifyActivity({ sql, mailer, staffEmail, log }: Dependencies) {
  return async (partnerId: number): Promise<number> => {
    const notices = await unsentNotices(sql, partnerId)
    const [failed] = await forEachInFlight(notices, tell, { limit: 1 })
    if (failed !== undefined) throw failed.error
    return notices.length
  }

  async function tell(notice: UnsentNotice): Promise<void> {
    const { id, kind, recipient, eventId, partnerId } = notice
    const facts = await noticeFacts(sql, notice)
    const to = recipient === 'staff' ? staffEmail : facts.contact_email
    const about = { partner_id: partnerId }
    const mail = { ...describeNotice(notice, facts), messageId: mailer.messageId(`notice-${id}`), about }
    const outcome = to ? await mailer.inPlace(() => mailer.send({ to, ...mail })) : 'no_address'
    await markSent(sql, id)
    log.warn({ notice: kind, ...about, event_id: eventId, recipient, outcome }, mail.subject)
  }
}
