import { command, firstOf, type InboxSource } from '../../../staff/inbox.ts'
import { unseenRestores } from '../statements/restores.ts'

/** Restores of which nobody said that they have seen what was lost. */
export const restoresInbox: InboxSource = {
  kind: 'restores',
  find: async ({ sql }, limit) => {
    const items = (await unseenRestores(sql)).map(({ generation, at, finished_at: finished, lost }) => ({
      what:
        finished === null
          ? `The record was restored (generation ${generation}), and restore-${generation} still has workflows take it over. See "record show".`
          : `The record was restored (generation ${generation}), and nobody has said that they know what was lost. See "record show".`,
      since: at,
      touches: { 'leads and milestones lost': lost },
      // until then, more may be found lost
      mend: finished === null ? `wait for restore-${generation}` : command(`record seen ${generation}`),
    }))
    return firstOf(items, limit)
  },
}
