import { firstOf, type InboxSource, MOST_COUNTED } from '../../../staff/inbox.ts'
import { countUnstarted } from '../../leads/statements/unstarted-counts.ts'
import { standstill } from './standstill.ts'

/** Without Temporal or a worker, no workflow goes on. It touches the leads that wait for their workflow. */
export const temporalInbox: InboxSource = {
  kind: 'temporal',
  find: async (context, limit) => {
    const found = await standstill(context)
    if (found === undefined) return firstOf([], limit)
    const { leads, partners, since } = await countUnstarted(context.sql, 0, MOST_COUNTED)
    return firstOf([{ ...found, since, touches: { leads, partners } }], limit)
  },
}
