import {
  defineQuery,
  makeContinueAsNewFunc,
  setCurrentDetails,
  setDefaultSignalHandler,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow'
import { type Activities, listReplay, replayWebhook } from './activities.ts'

type Filter = Parameters<Activities['listReplay']>[0]

/** The progress of a replay: all that a run hands to the next. */
export interface ReplayProgress {
  total: number
  delivered: number
  failed: number
  /** The webhook that was sent last. */
  at: { leadId: number; sequence: number }
}

const progressQuery = defineQuery<ReplayProgress>('progress')

/**
 * Sends a partner's settled webhooks once more, one after the other, each lead's in order: id `replay-<partner_id>`.
 * Cancel it to stop it. It survives crashes and deployments.
 *
 * @param progress `total` is the count at the start.
 */
export async function replay(filter: Filter, progress: ReplayProgress): Promise<ReplayProgress> {
  setHandler(progressQuery, () => progress, { description: 'How far the replay has come' })
  setDefaultSignalHandler(() => {})
  for (;;) {
    const page = await listReplay(filter, progress.at)
    if (page.length === 0) return progress
    for (const { leadId, sequence } of page) {
      setCurrentDetails(detailsOf(filter, progress))
      const summary = `webhook ${sequence} of lead ${leadId}`
      progress[await replayWebhook.executeWithOptions({ summary }, [leadId, sequence])] += 1
      progress.at = { leadId, sequence }
    }
    setCurrentDetails(detailsOf(filter, progress))
    if (workflowInfo().continueAsNewSuggested) await makeContinueAsNewFunc<typeof replay>()(filter, progress)
  }
}

function datesOf(since: string | null, until: string | null): string {
  if (since === null && until === null) return 'all events'
  return ['events', since !== null && `from ${since}`, until !== null && `before ${until}`]
    .filter(Boolean)
    .join(' ')
}

/** What an operator reads in the Temporal Web UI. */
function detailsOf({ partnerId, states, since, until }: Filter, progress: ReplayProgress): string {
  const { total, delivered, failed, at } = progress
  return [
    `Replay of **partner ${partnerId}**: **${delivered + failed} of ${total}** sent.`,
    '',
    `- ${states.join(' and ')}, ${datesOf(since, until)}`,
    `- Delivered: ${delivered}; failed: ${failed}`,
    `- At lead ${at.leadId}, webhook ${at.sequence}`,
    '',
    'Request its cancellation to stop it.',
  ].join('\n')
}
