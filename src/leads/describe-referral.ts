import { type Client, WorkflowNotFoundError } from '@temporalio/client'
import { closeUpdate, type ReferralView } from '../../workflows/messages.ts'
import { isTemporalAway } from '../temporal/away.ts'
import { referralId } from '../temporal/names.ts'
import { OtherDeployment } from '../temporal/namespace-guard.ts'

/** Who looks wants to see the record at least, soon. */
const CALL_LIMIT_MS = 2000

export interface ReferralDescription {
  workflowId: string
  /** As Temporal says it (`RUNNING`, …), `NOT_FOUND`, or `UNKNOWN` while Temporal is away. */
  status: string
  /** What its workflow ignored, wholly or in part, and what went wrong; none while no worker answers for it. */
  notes: ReferralView['notes']
  /** Its workflow task fails: nothing happens to the lead until that ends. */
  isFailing: boolean
  /** Why its status is `UNKNOWN`. */
  unknownBecause?: unknown
}

/**
 * What Temporal knows of a lead's workflow.
 *
 * @param withNotes without them, no worker is asked.
 * @throws {OtherDeployment} only: another deployment's lead of the same number says nothing about ours.
 */
export async function describeReferral(
  client: Client,
  leadId: number,
  { withNotes = true }: { withNotes?: boolean } = {},
): Promise<ReferralDescription> {
  const workflowId = referralId(leadId)
  const handle = client.workflow.getHandle(workflowId)
  const soon = <Result>(call: () => Promise<Result>) => client.withDeadline(Date.now() + CALL_LIMIT_MS, call)
  try {
    const { status, raw } = await soon(() => handle.describe())
    // the server counts a task's attempts from 1
    const isFailing = status.name === 'RUNNING' && (raw.pendingWorkflowTask?.attempt ?? 0) > 1
    // a query would fail as its task does
    const view =
      isFailing || !withNotes
        ? undefined
        : await soon(() => handle.query<ReferralView>('state')).catch(() => undefined)
    return { workflowId, status: status.name, notes: view?.notes ?? [], isFailing }
  } catch (error) {
    if (error instanceof OtherDeployment) throw error
    const unknown = { workflowId, notes: [], isFailing: false }
    if (error instanceof WorkflowNotFoundError) return { ...unknown, status: 'NOT_FOUND' }
    return { ...unknown, status: 'UNKNOWN', unknownBecause: error }
  }
}

/** What becomes of an open lead whose workflow has this status; `undefined` while it runs. */
export function describeStatus({ status, unknownBecause }: ReferralDescription): string | undefined {
  if (status === 'RUNNING') return undefined
  if (status !== 'UNKNOWN') return 'a worker starts it again from the record, within five minutes of its end'
  return isTemporalAway(unknownBecause)
    ? 'Temporal does not answer: nothing happens to the lead until it does'
    : `Temporal does not say: ${(unknownBecause as Error).message}`
}

type History = Awaited<ReturnType<ReturnType<Client['workflow']['getHandle']>['fetchHistory']>>

/** An event of a workflow's history, as the server has it. */
export type HistoryEvent = NonNullable<History['events']>[number]

/** The closing does not wait for a name. */
const READ_LIMIT_MS = 3000
const LENGTH = 200

/**
 * Who asked a lead’s running workflow to close it: what the client that sent the first cancellation or close called
 * itself, which nobody checks. `null` if this run’s history does not say.
 */
export async function closeRequestedBy(client: Client, leadId: number): Promise<string | null> {
  const fetch = () => client.workflow.getHandle(referralId(leadId)).fetchHistory()
  const history = await client.withDeadline(Date.now() + READ_LIMIT_MS, fetch).catch(() => undefined)
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
