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
import type { Mailer, MailSubject } from './mailer.ts'
import { describeNotice } from './notice-mail.ts'

/** The ids of emails that were sent, and are not sent again. */
export interface SentMails {
  has: (id: string) => boolean
  add: (id: string) => unknown
  /** Whether a copy for staff that is refused is worth another try. */
  isEarly?: boolean
}

/** After so many tries, nothing waits for staff’s copy: a mail server that is restarted has done so by then. */
const TRIES_FOR_STAFF = 8

/** Of the earlier tries of this activity. Heartbeat details outlive a try. */
function sentBefore(): SentMails {
  const info = activityInfo()
  const { mailed = [] } = (info.heartbeatDetails ?? {}) as { mailed?: string[] }
  const sent = new Set(mailed)
  return {
    isEarly: info.attempt < TRIES_FOR_STAFF,
    has: (id) => sent.has(id),
    add(id) {
      sent.add(id)
      heartbeat({ mailed: [...sent] })
    },
  }
}

const idFor = (id: string, who: 'partner' | 'staff') => `${id}-${who}`

/** Whether one of the two was told of it by an earlier try. */
const isOneTold = (id: string, sent: SentMails): boolean =>
  sent.has(idFor(id, 'partner')) || sent.has(idFor(id, 'staff'))

/**
 * Mails a partner's contact and staff about the same thing. Neither waits for the other: an address that is refused keeps
 * nobody else from the news.
 *
 * @param about whom it is about, for the log.
 * @param id of what it is about: a repeat has the same Message-IDs.
 * @param sent what needs no repeat.
 * @returns what became of each mail; of staff's also `failed`, in the end.
 * @throws what the mail server says of the partner's address, or of that of staff: early, or if the partner has no contact.
 */
async function mailBoth(
  mailer: Mailer,
  { id, ...about }: { id: string } & MailSubject,
  to: { partner: string | null; staff: string | undefined },
  { subject, forPartner, forStaff }: Texts,
  sent: SentMails,
): Promise<Mailed> {
  const mail = async (
    address: string | null | undefined,
    who: 'partner' | 'staff',
    text: string,
  ): Promise<Outcome> => {
    if (!address) return 'no_address'
    const mailId = idFor(id, who)
    if (sent.has(mailId)) return 'sent'
    const messageId = mailer.messageId(mailId)
    const outcome = await mailer.send({ to: address, subject, text, messageId, about })
    if (outcome === 'sent') sent.add(mailId)
    return outcome
  }
  // one after the other: at once, either would arrive first
  const [partner] = await Promise.allSettled([mail(to.partner, 'partner', forPartner)])
  const [staff] = await Promise.allSettled([mail(to.staff, 'staff', forStaff)])
  if (partner.status === 'rejected') throw partner.reason
  if (staff.status === 'fulfilled') return { partner: partner.value, staff: staff.value }
  if (partner.value === 'no_address' || sent.isEarly) throw staff.reason
  return { partner: partner.value, staff: 'failed' }
}

interface Texts {
  subject: string
  forPartner: string
  forStaff: string
}

type Outcome = 'sent' | 'not_allowed' | 'no_address' | 'failed'

interface Mailed {
  partner: Outcome
  staff: Outcome
}

interface Dependencies {
  sql: Sql
  environment: Environment
  mailer: Mailer
  /** Who is told about failing endpoints, beside the partner. */
  staffEmail: string | undefined
  log: Logger
}

/**
 * Mails the notices that are owed to an endpoint's partner and to staff. A crash between sending and marking repeats a
 * mail under the same Message-ID.
 *
 * @throws {ApplicationFailure} once all were tried, if one was refused.
 */
export function notifyActivity({ sql, environment, mailer, staffEmail, log }: Dependencies) {
  const send = async (partnerId: number, notice: UnsentNotice, sent: SentMails): Promise<void> => {
    const id = `notice-${partnerId}-${notice.kind}-${notice.owedAt.getTime()}`
    const facts = await noticeFacts(sql, partnerId, notice.eventId)
    const isOver = notice.kind === 'paused' && facts.state !== 'paused'
    // resumed before anybody was told
    if (isOver && !isOneTold(id, sent)) return dropNotice(sql, partnerId, notice)
    const texts = describeNotice(partnerId, notice.kind, facts, environment)
    const mail = await mailBoth(
      mailer,
      { id, partner_id: partnerId },
      { partner: facts.contact_email, staff: staffEmail },
      texts,
      sent,
    )
    await markSent(sql, partnerId, notice)
    log.warn({ notice: notice.kind, partner_id: partnerId, event_id: notice.eventId, mail }, texts.subject)
  }

  return async (endpointId: number): Promise<number> => {
    const partnerId = await partnerOfEndpoint(sql, endpointId)
    const notices = await unsentNotices(sql, partnerId)
    const sent = sentBefore()
    const failures: unknown[] = []
    for (const notice of notices)
      await send(partnerId, notice, sent).catch((error: unknown) => failures.push(error))
    if (failures.length > 0) throw failures[0]
    return notices.length
  }
}
