import { RetentionHeld } from '../../../core/database/retained.ts'
import { firstOf, type InboxSource } from '../../../staff/inbox.ts'
import { requireSameClock } from '../statements/same-clock.ts'

/** Retention that removes nothing because a clock is wrong. */
export const retentionInbox: InboxSource = {
  kind: 'retention',
  find: async ({ sql }, limit) => {
    try {
      await requireSameClock(sql, Date.now)
      return firstOf([], limit)
    } catch (error) {
      if (!(error instanceof RetentionHeld)) throw error
      const mend = 'correct the clock that is wrong'
      return firstOf([{ what: `${error.message}.`, since: null, touches: {}, mend }], limit)
    }
  },
}
