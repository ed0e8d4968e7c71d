import { command, firstOf, type InboxSource } from '../../../staff/inbox.ts'
import { unannouncedChanges } from '../statements/announced-changes.ts'

/** Changes of endpoints that wait because the emails about them cannot be sent. */
export const changesInbox: InboxSource = {
  kind: 'emails about changes',
  find: async ({ sql }, limit) => {
    const items = (await unannouncedChanges(sql)).map(
      ({ partner_id: partner, kind, requested_at: since }) => ({
        what: `Partner ${partner} asked for ${kind === 'url' ? 'a new URL' : 'a new secret'}, and the emails about that are not sent: the mail server is away, or refuses the contact. It waits.`,
        since,
        touches: { partners: 1 },
        mend: command(`partner contact ${partner} EMAIL`),
      }),
    )
    return firstOf(items, limit)
  },
}
