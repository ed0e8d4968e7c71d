import type { Client } from '@temporalio/client'
import type { MilestoneItem, Recording } from '../decisions/referral.ts'
import { SKEW_MS } from '../../record/decisions/restore.ts'
import { listWorkflows } from '../../temporal/list-workflows.ts'
import { referralId } from '../../temporal/names.ts'
import { recordingsIn } from './recordings.ts'

/**
 * What was recorded of a lead by Temporal's histories, of all runs that it still has, in the order in which it was
 * recorded. An event gets the id and the sequence that it had, unless its content is not in the history.
 *
 * @param createdAt of the lead: another lead of the same id, which the record lost, may have had a workflow before.
 */
export async function recordedBefore(
  client: Client,
  leadId: number,
  createdAt: Date,
): Promise<MilestoneItem[]> {
  const workflowId = referralId(leadId)
  const began = new Map<string, Date>()
  for await (const { runId, startTime } of listWorkflows(client, `WorkflowId = '${workflowId}'`))
    began.set(runId, startTime)
  const runs = [...began].toSorted(([, one], [, other]) => one.getTime() - other.getTime())
  const items = new Map<string, MilestoneItem>()
  for (const [runId] of runs) {
    const { events } = await client.workflow.getHandle(workflowId, runId).fetchHistory()
    const first = events?.[0]?.workflowExecutionStartedEventAttributes?.firstExecutionRunId ?? runId
    const isOurs = (began.get(first)?.getTime() ?? Infinity) >= createdAt.getTime() - SKEW_MS
    if (!isOurs) continue
    const recorded = recordingsIn(events ?? []).flatMap(({ items: asked, recording }) =>
      itemsRecorded(asked, recording),
    )
    for (const item of recorded)
      if (item.as !== undefined || !items.has(item.dedupeKey)) items.set(item.dedupeKey, item)
  }
  return [...items.values()]
}

function itemsRecorded(
  items: readonly MilestoneItem[],
  { outcomes, lastEventAt }: Recording,
): MilestoneItem[] {
  return items.flatMap((item, index) => {
    const { outcome, eventId, sequence } = outcomes[index] ?? {}
    if (eventId === undefined) return []
    // an answer that was lost and asked for again is "repeated", and says no sequence
    const isWhole = outcome === 'recorded' && (item.name !== 'score_update' || item.gains !== undefined)
    const as = { eventId, ...(sequence !== undefined && { sequence }) }
    return [{ ...item, at: lastEventAt, ...(isWhole && { as }) }]
  })
}
