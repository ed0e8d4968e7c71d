import type { Client } from '@temporalio/client'
import { closeUpdate } from '../../../../workflows/messages.ts'
import { referralId } from '../../temporal/names.ts'
import type { HistoryEvent } from '../../temporal/history.ts'

/** The closing does not wait for a name. */
const CALL_LIMIT_MS = 3000
const LENGTH = 200

/**
 * Who asked a lead’s running workflow to close it: what the client that sent the first cancellation or close called
 * itself, which nobody checks. `null` if this run’s history does not say.
 */
export async function closeRequestedBy(client: Client, leadId: number): Promise<string | null> {
  const fetch = () => client.workflow.getHandle(referralId(leadId)).fetchHistory()
  const history = await client.withDeadline(Date.now() + CALL_LIMIT_MS, fetch).catch(() => undefined)
  const identity = (history?.events ?? []).map(identityOf).find(Boolean)
  return identity?.replaceAll(/\p{Cc}/gu, ' ').slice(0, LENGTH) ?? null
}

function identityOf({
  workflowExecutionCancelRequestedEventAttributes: canceled,
  workflowExecutionUpdateAcceptedEventAttributes: updated,
}: HistoryEvent): string | null | undefined {
  const { input, meta } = updated?.acceptedRequest ?? {}
  return input?.name === closeUpdate.name ? meta?.identity : canceled?.identity
}
