import { activityInfo, heartbeat } from '@temporalio/activity'
import type { Logger } from 'pino'
import type { Sql } from '../src/database/sql.ts'
import {
  dropNotice,
  markSent,
  noticeFacts,
  type UnsentNotice,
  unsentNotices,
} from '../src/endpoints/notices.ts'
import { partnerOfEndpoint } from '../src/endpoints/review.ts'
import type { Environment } from '../src/values.ts'
import { describeNotice } from './mail-texts.ts'
import type { Mail, Mailer } from './mailer.ts'

interface Dependencies {
  sql: Sql
  environment: Environment
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
export function notifyActivity({ sql, environment, mailer, staffEmail, log }: Dependencies) {
  return async (endpointId: number): Promise<number> => {
    const partnerId = await partnerOfEndpoint(sql, endpointId)
    const notices = await unsentNotices(sql, partnerId)
    const sendOnce = sendsOnce(mailer)
    const failures: unknown[] = []
    for (const notice of notices)
      await tell(partnerId, notice, sendOnce).catch((error: unknown) => failures.push(error))
    if (failures.length > 0) throw failures[0]
    return notices.length
  }

  async function tell(partnerId: number, notice: UnsentNotice, { send, isSent }: SendsOnce): Promise<void> {
    const { kind, eventId } = notice
    const id = `notice-${partnerId}-${kind}-${notice.owedAt.getTime()}`
    const facts = await noticeFacts(sql, partnerId, eventId)
    // resumed before anybody was told
    if (kind === 'paused' && facts.state !== 'paused' && !isSent(`${id}-partner`) && !isSent(`${id}-staff`))
      return dropNotice(sql, partnerId, notice)
    const { subject, forPartner, forStaff } = describeNotice(partnerId, kind, facts, environment)
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
    await markSent(sql, partnerId, notice)
    const mail = { partner: partner.value, staff: staff.status === 'fulfilled' ? staff.value : 'failed' }
    log.warn({ notice: kind, partner_id: partnerId, event_id: eventId, mail }, subject)
  }
}

type SendsOnce = ReturnType<typeof sendsOnce>

/** Sends each mail once in all tries of this activity: heartbeat details outlive a try. */
function sendsOnce(mailer: Mailer) {
  const { mailed = [] } = (activityInfo().heartbeatDetails ?? {}) as { mailed?: string[] }
  const sent = new Set(mailed)
  return {
    isSent: (id: string) => sent.has(id),
    send: async (
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
    },
  }
}
