import {
  type Client,
  isGrpcDeadlineError,
  WorkflowExecutionAlreadyStartedError,
  type WorkflowHandleWithFirstExecutionRunId,
} from '@temporalio/client'
import type { scenario, ScenarioEnd } from '../../workflows/scenario.ts'
import type { ScenarioName } from '../domain/scenarios.ts'
import { scenarioId, TASK_QUEUE } from './names.ts'

/** How long an answer waits for a scenario. */
const WAIT_MS = 10_000

export interface Scenarios {
  /** Starts a scenario with a lead. @returns false if one runs already. */
  start(leadId: number, name: ScenarioName): Promise<boolean>
  /** The same, and waits for its end, ten seconds at most: `running`. */
  run(leadId: number, name: ScenarioName): Promise<ScenarioEnd | 'running' | 'refused'>
}

export function createScenarios(client: Client): Scenarios {
  async function begin(leadId: number, name: ScenarioName) {
    try {
      return await client.workflow.start<typeof scenario>('scenario', {
        workflowId: scenarioId(leadId),
        taskQueue: TASK_QUEUE,
        args: [leadId, name],
        workflowIdConflictPolicy: 'FAIL',
        workflowIdReusePolicy: 'ALLOW_DUPLICATE',
        staticSummary: `Scenario ${name} of lead ${leadId}`,
      })
    } catch (error) {
      if (error instanceof WorkflowExecutionAlreadyStartedError) return undefined
      throw error
    }
  }

  async function endOf(
    handle: WorkflowHandleWithFirstExecutionRunId<typeof scenario>,
  ): Promise<ScenarioEnd | 'running'> {
    try {
      return await handle.result()
    } catch (error) {
      if (isGrpcDeadlineError(error)) return 'running'
      throw error
    }
  }

  return {
    start: (leadId, name) =>
      client.withDeadline(Date.now() + WAIT_MS, async () => (await begin(leadId, name)) !== undefined),

    run: (leadId, name) =>
      client.withDeadline(Date.now() + WAIT_MS, async () => {
        const handle = await begin(leadId, name)
        return handle === undefined ? 'refused' : endOf(handle)
      }),
  }
}
