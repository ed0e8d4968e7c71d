import { type Client, WorkflowNotFoundError } from '@temporalio/client'
import { findRun, forgetRun } from '../statements/sandbox-runs.ts'
import type { Sql } from '../../../core/database/orm.ts'
import { advanceId } from '../decisions/lead-clock.ts'
import { scenarioId } from '../decisions/scenarios.ts'

const CALL_LIMIT_MS = 3000
const idOf = { scenario: scenarioId, advance: advanceId }

/** Frees the place of a run whose workflow is not running: it was terminated, or never started. */
export function createRunKeeper({ client, sql }: { client: Client; sql: Sql }) {
  async function isRunning(workflowId: string): Promise<boolean> {
    const describe = () => client.workflow.getHandle(workflowId).describe()
    try {
      return (await client.withDeadline(Date.now() + CALL_LIMIT_MS, describe)).status.name === 'RUNNING'
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return false
      throw error
    }
  }

  return async (id: number): Promise<void> => {
    const run = await findRun(sql, id)
    if (run === undefined) return
    if (!(await isRunning(idOf[run.kind](run.leadId)))) await forgetRun(sql, run)
  }
}
