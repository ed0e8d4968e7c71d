import { DAY_MS } from '../values.ts'

/** The task queue of workflows, and of activities without a queue of their own, which allows eager activity execution. */
export const TASK_QUEUE = 'referrals'

export const referralId = (leadId: number) => `lead-${leadId}`
/** The lead of a workflow id; `undefined` for any other workflow. */
export function leadOf(workflowId: string): number | undefined {
  const [, id] = /^lead-(\d+)$/.exec(workflowId) ?? []
  return id === undefined ? undefined : Number(id)
}
export const endpointWorkflowId = (partnerId: number) => `endpoint-${partnerId}`

/**
 * The task queue of the activities that send a webhook and wait for the endpoint. Each worker polls it beside the queue
 * `referrals`, with task slots of its own: however many endpoints hang, milestones are recorded. A webhook that is sent when
 * its event is recorded takes a slot of `referrals`, for a second at most.
 */
export const DELIVERIES_QUEUE = 'deliveries'

/**
 * The task queue of the activities that ask the score provider. Each worker polls it beside the queue `referrals`, with
 * task slots of its own, so that:
 *
 * - the server bounds how many are started a second, however many score updates are due and however many workers there are;
 * - a provider that hangs takes no slot from milestones and webhooks.
 */
export const SCORES_QUEUE = 'scores'

/** What operators filter and sort workflows by in Temporal's Web UI: ids, states and dates, no personal data. */
export const searchAttributes = {
  LeadId: 'INT',
  PartnerId: 'INT',
  /** The lead's status, as the API answers it. */
  LeadStatus: 'KEYWORD',
  /** `ok`, `failing` (the endpoint refuses, it is tried again) or `held` (the endpoint is paused or not set). */
  DeliveryState: 'KEYWORD',
  /** Absent while no score update is planned. */
  NextScoreUpdateAt: 'DATETIME',
  /** The day (UTC) of the lead's latest event: to the second, every event would be written to Temporal's visibility store. */
  LastEventAt: 'DATETIME',
} as const

/** The beginning of a day, for `LastEventAt`. */
export const dayOf = (ms: number) => new Date(Math.floor(ms / DAY_MS) * DAY_MS)
