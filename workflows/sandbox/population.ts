import {
  CancellationScope,
  CancelledFailure,
  makeContinueAsNewFunc,
  setCurrentDetails,
  setDefaultSignalHandler,
  workflowInfo,
} from '@temporalio/workflow'
import type { Batch } from '../../activities/sandbox/population.ts'
import type { PopulationEnd } from '../../src/capabilities/sandbox/populations/decisions/population.ts'
import { endPopulation, playPopulation, requestPopulationEnd } from './activities.ts'

/**
 * Plays a population, in a sandbox: id `population-<population_id>`. PostgreSQL has the progress, and which leads are under
 * way, so each batch goes on from there. Canceled, it ends as when its partner cancels it.
 */
export async function population(id: number): Promise<PopulationEnd> {
  setDefaultSignalHandler(() => {})
  const scope = CancellationScope.current()
  void scope.cancelRequested.catch(async () =>
    CancellationScope.nonCancellable(() => requestPopulationEnd(id)),
  )
  const end = await CancellationScope.nonCancellable(() => playAll(id, scope))
  if (scope.consideredCancelled && end === 'canceled')
    throw new CancelledFailure('the population is canceled')
  return end
}

async function playAll(id: number, scope: CancellationScope): Promise<PopulationEnd> {
  for (;;) {
    const batch = await playPopulation(id)
    setCurrentDetails(detailsOf(id, batch))
    if (batch.end !== undefined) {
      const end = await endPopulation(id, batch.end)
      setCurrentDetails(detailsOf(id, { ...batch, end }))
      return end
    }
    // a new run would not know of a cancellation, and ours may not be written down yet
    if (workflowInfo().continueAsNewSuggested && !scope.consideredCancelled)
      await makeContinueAsNewFunc<typeof population>()(id)
  }
}

/** What an operator reads in the Temporal Web UI. */
function detailsOf(id: number, { partnerId, progress, end }: Batch): string {
  const { done, of, webhooks, perSecond, late } = progress ?? {
    done: 0,
    of: 0,
    webhooks: 0,
    perSecond: 0,
    late: 0,
  }
  return [
    `Population ${id} of **partner ${partnerId}**: **${end ?? 'running'}**`,
    `- Leads: **${done}** of ${of} are over\n- Webhooks: ${webhooks} accepted, ${perSecond} a second; ${late} wait for a retry`,
    '*Request Cancellation* ends it; its leads stay. Terminated, it is started again within a minute, and goes on from the record.',
  ].join('\n\n')
}
