import { command, firstOf, type InboxSource, MOST_COUNTED } from '../../../staff/inbox.ts'
import { recordedAt } from '../../leads/statements/new-lead.ts'
import { faultsByPartner } from '../statements/faults.ts'
import { givenUpByPartner } from '../statements/given-up.ts'

/** What nobody sent again by then is history. */
const SHOWN_DAYS = 30

/** Webhooks that were given up. */
export const givenUpInbox: InboxSource = {
  kind: 'webhooks given up',
  find: async ({ sql }, limit) => {
    const partners = await givenUpByPartner(sql, { days: SHOWN_DAYS, most: MOST_COUNTED })
    const items = partners.map(
      ({ partner_id: partner, partner_name: name, webhooks, leads, event_id: event }) => ({
        what: `Webhooks of partner ${partner}, ${name}, were given up, ${event} first: its endpoint took others, and not these. Once it takes them, send them again.`,
        since: recordedAt(event),
        touches: { webhooks, leads },
        mend: command(`delivery replay --partner ${partner}`),
      }),
    )
    return firstOf(items, limit)
  },
}

/** Webhooks that we cannot sign. */
export const faultsInbox: InboxSource = {
  kind: 'webhooks not sent',
  find: async ({ sql }, limit) => {
    const items = (await faultsByPartner(sql)).map(
      ({ partner_id: partner, partner_name: name, fault, since, webhooks, leads }) => ({
        what: `Webhooks of partner ${partner}, ${name}, cannot be sent: ${fault}.`,
        since,
        touches: { webhooks, leads },
        mend: `as it says; if the secret is lost, ${command(`endpoint rotate-secret ${partner} --overlap 0`)}`,
      }),
    )
    return firstOf(items, limit)
  },
}
