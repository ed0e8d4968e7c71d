import { failureOf } from '../../../staff/refusal.ts'
import { command, firstOf, type InboxItem, type InboxSource } from '../../../staff/inbox.ts'
import { isPolling } from '../polling.ts'
import { failingByType, FAILING_AFTER_MS } from '../statements/failing-workflows.ts'

/** Without Temporal or a worker, no workflow goes on. */
export const temporalInbox: InboxSource = {
  kind: 'temporal',
  find: async (context, limit) => {
    const { client, requireOwnNamespace, temporal } = context
    try {
      await requireOwnNamespace()
      const item: InboxItem = {
        what: 'No worker asks Temporal for work: milestones are accepted, and nothing is recorded or sent.',
        since: null,
        touches: {},
        mend: 'start a worker; its last line in the log says why it ended',
      }
      return firstOf((await isPolling(client)) ? [] : [item], limit)
    } catch (error) {
      const { message, reason } = failureOf(error, temporal.address)
      const what =
        reason === 'temporal_away'
          ? `Temporal does not answer at ${temporal.address}: no workflow goes on.`
          : message
      const mend =
        'start Temporal, or correct TEMPORAL_ADDRESS and TEMPORAL_NAMESPACE; nothing is lost meanwhile'
      return firstOf([{ what, since: null, touches: {}, mend }], limit)
    }
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
