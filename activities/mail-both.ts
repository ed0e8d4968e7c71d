import type { Mailer, MailSubject } from './mailer.ts'

interface Texts {
  subject: string
  forPartner: string
  forStaff: string
}

/**
 * Mails a partner's contact and staff about the same thing.
 *
 * @param about whom it is about, for the log.
 * @param id of what it is about: a repeat has the same Message-IDs.
 * @returns what became of each mail.
 */
export async function mailBoth(
  mailer: Mailer,
  { id, ...about }: { id: string } & MailSubject,
  to: { partner: string | null; staff: string | undefined },
  { subject, forPartner, forStaff }: Texts,
) {
  const mail = async (address: string | null | undefined, who: string, text: string) => {
    if (!address) return 'no_address'
    return mailer.send({
      to: address,
      subject,
      text,
      messageId: `<${id}-${who}@partner-referral-service>`,
      about,
    })
  }
  const partner = await mail(to.partner, 'partner', forPartner)
  return { partner, staff: await mail(to.staff, 'staff', forStaff) }
}

type Mailed = Awaited<ReturnType<typeof mailBoth>>

/** Whether the partner was told, or staff in place of a partner who has no contact. */
export const hasTold = ({ partner, staff }: Mailed): boolean =>
  (partner === 'no_address' ? staff : partner) === 'sent'
