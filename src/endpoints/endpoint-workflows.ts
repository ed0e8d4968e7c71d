import { type Client, WithStartWorkflowOperation } from '@temporalio/client'
import { lookSignal, pingUpdate } from '../../workflows/messages.ts'
import { endpointWorkflowId, TASK_QUEUE } from '../temporal/names.ts'
import type { PingOutcome } from '../webhooks/send.ts'

const START_LIMIT_MS = 3000
/** One request may take fifteen seconds. */
const PING_LIMIT_MS = 17_000

const optionsOf = (partnerId: number) => ({
  workflowId: endpointWorkflowId(partnerId),
  taskQueue: TASK_QUEUE,
  args: [partnerId],
  workflowIdConflictPolicy: 'USE_EXISTING' as const,
  staticSummary: `Endpoint of partner ${partnerId}`,
})

/** Starts an endpoint's workflow, or tells the one that runs to read the record now. */
export function createEndpointStarter(client: Client) {
  return async (partnerId: number): Promise<void> => {
    const options = { ...optionsOf(partnerId), signal: lookSignal }
    const start = () => client.workflow.signalWithStart('endpoint', options)
    await client.withDeadline(Date.now() + START_LIMIT_MS, start)
  }
}

/** Has an endpoint's workflow send a test request, or joins one that is under way, and waits for the answer. */
export function createPing(client: Client) {
  return async (partnerId: number): Promise<PingOutcome> => {
    const startWorkflowOperation = new WithStartWorkflowOperation('endpoint', optionsOf(partnerId))
    const ask = () => client.workflow.executeUpdateWithStart(pingUpdate, { startWorkflowOperation })
    return client.withDeadline(Date.now() + PING_LIMIT_MS, ask)
  }
}
