import { command, type InboxSource } from '../../../staff/inbox.ts'
import { untoldClosings } from '../statements/untold.ts'

/** Closings that wait because their email cannot be sent. */
export const closingsInbox: InboxSource = {
  kind: 'emails about closings',
  find: async ({ sql }, limit) => {
    const partners = await untoldClosings(sql)
    const items = partners.slice(0, limit).map(({ partner_id: partner, leads, since }) => ({
      what: `Leads of partner ${partner} are to be closed, and the email about that is not sent: the mail server is away, or refuses the contact. They wait.`,
      since,
      touches: { leads },
      mend: command(`partner contact ${partner} EMAIL`),
    }))
    return { items, total: partners.length }
  },
}
