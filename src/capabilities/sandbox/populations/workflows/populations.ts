import type { Client } from '@temporalio/client'
import { ensureRunning } from '../../../../core/temporal/ensure-running.ts'
import { populationId } from '../decisions/population.ts'

/** Starts the workflow of a population, unless it runs. */
export function createPopulationStarter(client: Client) {
  return async (id: number): Promise<void> =>
    ensureRunning(client, 'population', {
      workflowId: populationId(id),
      args: [id],
      summary: `Population ${id}`,
    })
}
