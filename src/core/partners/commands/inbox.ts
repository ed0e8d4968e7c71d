import { formatTimestamp } from '../../values/timestamps.ts'
import { command, firstOf, type InboxSource } from '../../../staff/inbox.ts'
import { endingKeys } from '../statements/ending-keys.ts'

const ENDS_SOON_DAYS = 30

/** Keys that end although their partner needs them. */
export const keysInbox: InboxSource = {
  kind: 'keys',
  find: async ({ sql }, limit) => {
    const items = (await endingKeys(sql, ENDS_SOON_DAYS)).map((key) => {
      const { partner_id: partner, partner_name: name, key_id: id, expires_at: at, is_last: isLast } = key
      const ends = `Key ${id} of partner ${partner}, ${name}, ends on ${formatTimestamp(at)} UTC`
      return {
        what: isLast
          ? `${ends}, and the partner has no other that works for longer.`
          : `${ends}, and the partner still uses it instead of its newer one: tell the partner to change over before then.`,
        since: key.since,
        touches: { partners: 1 },
        // nothing is to be revoked: the old key ends by itself, and until then the partner works with it
        mend: command(isLast ? `key issue ${partner}` : `key list ${partner}`),
      }
    })
    return firstOf(items, limit)
  },
}
