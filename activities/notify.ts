import { activityInfo, heartbeat } from '@temporalio/activity'
import type { Logger } from 'pino'
import type { Sql } from '../src/database/sql.ts'
import { markSent, noticeFacts, type UnsentNotice, unsentNotices } from '../src/endpoints/notices.ts'
import { forEachInFlight } from '../src/temporal/in-flight.ts'
import { describeNotice } from './mail-texts.ts'
import type { Mail, Mailer } from './mailer.ts'

interface Dependencies {
  sql: Sql
  mailer: Mailer
  /** Who is told about endpoints, beside the partner. */
  staffEmail: string | undefined
  log: Pick<Logger, 'warn'>
}

/**
 * Mails the notices that are owed to an endpoint's partner and to staff. A crash between sending and marking repeats a
 * mail under the same Message-ID.
 *
 * @throws {ApplicationFailure} once all were tried, if one was refused.
 */
export function notifyActivity({ sql, mailer, staffEmail, log }: Dependencies) {
  return async (partnerId: number): Promise<number> => {
    const notices = await unsentNotices(sql, partnerId)
    const send = sendsOnce(mailer)
    const [failed] = await forEachInFlight(notices, (notice) => tell(notice, send), { limit: 1 })
    if (failed !== undefined) throw failed.error
    return notices.length
  }

  async function tell(notice: UnsentNotice, send: SendOnce): Promise<void> {
    const { kind, eventId, partnerId } = notice
    const id = `notice-${notice.id}`
    const facts = await noticeFacts(sql, notice)
    const { subject, forPartner, forStaff } = describeNotice(notice, facts)
    const about = { partner_id: partnerId }
    // one after the other: at once, either would arrive first. An address that is refused keeps nobody else from the news.
    const [partner] = await Promise.allSettled([
      send(`${id}-partner`, facts.contact_email, { subject, text: forPartner, about }),
    ])
    const [staff] = await Promise.allSettled([
      send(`${id}-staff`, staffEmail, { subject, text: forStaff, about }),
    ])
    if (partner.status === 'rejected') throw partner.reason
    // staff have their log, too: only if the partner has no address, nobody is told
    if (staff.status === 'rejected' && partner.value === 'no_address') throw staff.reason
    await markSent(sql, notice)
    const mail = { partner: partner.value, staff: staff.status === 'fulfilled' ? staff.value : 'failed' }
    log.warn({ notice: kind, partner_id: partnerId, event_id: eventId, mail }, subject)
  }
}

type SendOnce = ReturnType<typeof sendsOnce>

/** Sends each mail once in all tries of this activity: heartbeat details outlive a try. */
function sendsOnce(mailer: Mailer) {
  const { mailed = [] } = (activityInfo().heartbeatDetails ?? {}) as { mailed?: string[] }
  const sent = new Set(mailed)
  return async (
    id: string,
    to: string | null | undefined,
    mail: Pick<Mail, 'subject' | 'text' | 'about'>,
  ) => {
    if (!to) return 'no_address'
    if (sent.has(id)) return 'sent'
    const outcome = await mailer.send({ to, messageId: mailer.messageId(id), ...mail })
    if (outcome === 'sent') sent.add(id)
    heartbeat({ mailed: [...sent] })
    return outcome
  }
}
