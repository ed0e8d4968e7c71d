/** Workflows and their activities share one queue, so that activities can be handed over with the task. */
export const TASK_QUEUE = 'referrals'

export const referralId = (leadId: number) => `lead-${leadId}`
export const endpointWorkflowId = (endpointId: number) => `endpoint-${endpointId}`
export const replayId = (eventId: string) => `replay-${eventId}`
