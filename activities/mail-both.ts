import { activityInfo, heartbeat } from '@temporalio/activity'
import type { Mailer, MailSubject } from './mailer.ts'

/** The ids of emails that were sent, and are not sent again. */
export interface SentMails {
  has: (id: string) => boolean
  add: (id: string) => unknown
}

/** Of the earlier tries of this activity. Heartbeat details outlive a try. */
export function sentBefore(): SentMails {
  const { mailed = [] } = (activityInfo().heartbeatDetails ?? {}) as { mailed?: string[] }
  const sent = new Set(mailed)
  return {
    has: (id) => sent.has(id),
    add(id) {
      sent.add(id)
      heartbeat({ mailed: [...sent] })
    },
  }
}

/**
 * Mails a partner's contact and staff about the same thing. Neither waits for the other: an address that is refused keeps
 * nobody else from the news.
 *
 * @param about whom it is about, for the log.
 * @param id of what it is about: a repeat has the same Message-IDs.
 * @param sent what needs no repeat.
 * @returns what became of each mail; of staff's also `failed`, which is not worth another one to the partner.
 * @throws what the mail server says of the partner's address, or of that of staff in place of a partner without a contact.
 */
export async function mailBoth(
  mailer: Mailer,
  { id, ...about }: { id: string } & MailSubject,
  to: { partner: string | null; staff: string | undefined },
  { subject, forPartner, forStaff }: Texts,
  sent: SentMails,
): Promise<Mailed> {
  const mail = async (address: string | null | undefined, who: string, text: string): Promise<Outcome> => {
    if (!address) return 'no_address'
    const mailId = `${id}-${who}`
    if (sent.has(mailId)) return 'sent'
    const messageId = `<${mailId}@partner-referral-service>`
    const outcome = await mailer.send({ to: address, subject, text, messageId, about })
    if (outcome === 'sent') sent.add(mailId)
    return outcome
  }
  const [partner, staff] = await Promise.allSettled([
    mail(to.partner, 'partner', forPartner),
    mail(to.staff, 'staff', forStaff),
  ])
  if (partner.status === 'rejected') throw partner.reason
  if (staff.status === 'fulfilled') return { partner: partner.value, staff: staff.value }
  if (partner.value === 'no_address') throw staff.reason
  return { partner: partner.value, staff: 'failed' }
}

interface Texts {
  subject: string
  forPartner: string
  forStaff: string
}

type Outcome = 'sent' | 'not_allowed' | 'no_address' | 'failed'

export interface Mailed {
  partner: Outcome
  staff: Outcome
}

/** Whether the partner was told, or staff in place of a partner who has no contact. */
export const hasTold = ({ partner, staff }: Mailed): boolean =>
  (partner === 'no_address' ? staff : partner) === 'sent'
