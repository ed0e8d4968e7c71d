/** Workflows and activities share a queue, for eager activity execution. */
export const TASK_QUEUE = 'referrals'

export const referralId = (leadId: number) => `lead-${leadId}`
/** The lead of a workflow id; `undefined` for any other workflow. */
export function leadOf(workflowId: string): number | undefined {
  const [, id] = /^lead-(\d+)$/.exec(workflowId) ?? []
  return id === undefined ? undefined : Number(id)
}
export const endpointWorkflowId = (endpointId: number) => `endpoint-${endpointId}`
/** A candidate may be certified several times. */
export const certificationId = (candidate: number, at: Date) => `certification-${candidate}-${at.getTime()}`
export const endpointPingId = (id: number) => `endpoint-ping-${id}`
export const resendId = (partnerId: number) => `resend-${partnerId}`
export const replayId = (partnerId: number) => `replay-${partnerId}`
