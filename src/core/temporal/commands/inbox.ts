import { command, firstOf, type InboxSource, MOST_COUNTED } from '../../../staff/inbox.ts'
import { countUnstarted } from '../../leads/statements/unstarted-counts.ts'
import { failingByType, FAILING_AFTER_MS } from '../statements/failing-workflows.ts'
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

/** Workflows whose task fails, by type. */
export const failingInbox: InboxSource = {
  kind: 'workflows',
  find: async ({ sql }, limit) => {
    const groups = await failingByType(sql, FAILING_AFTER_MS)
    const items = groups.map(({ type, workflows, since, failure, example }) => ({
      what: `The task of ${workflows} ${type} ${workflows === 1 ? 'workflow' : 'workflows'} fails, of ${example} for example: ${failure}. If it began with a release, start the previous version first.`,
      since,
      touches: { workflows },
      mend: command('workflow repair --yes'),
    }))
    return firstOf(items, limit)
  },
}
