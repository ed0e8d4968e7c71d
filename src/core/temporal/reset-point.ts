import type { Client } from '@temporalio/client'

export type History = Awaited<ReturnType<ReturnType<Client['workflow']['getHandle']>['fetchHistory']>>
export type HistoryEvent = NonNullable<History['events']>[number]
type CompletedTask = NonNullable<HistoryEvent['workflowTaskCompletedEventAttributes']>

export interface ResetPoint {
  /** The completed workflow task that is done anew. */
  eventId: NonNullable<HistoryEvent['eventId']>
  /** By whose worker it was completed. */
  build: string
  /** The cancellation was requested after it: the server reapplies signals and updates, and not that. */
  dropsCancellation: boolean
}

/**
 * Where a workflow is taken back to whose task fails: before all that the build did which worked on it last. What
 * another build did before stays. If that was incompatible too, the task fails again, and the next reset goes further back.
 *
 * @param build instead of the last one: before the first task of that build in this run.
 * @returns undefined if there is no such task: there is nothing to take back.
 */
export function resetPointOf(events: readonly HistoryEvent[], build?: string): ResetPoint | undefined {
  const tasks = events.flatMap(({ eventId, workflowTaskCompletedEventAttributes: task }) =>
    task && eventId ? [{ eventId, build: buildOf(task) }] : [],
  )
  const last = tasks.at(-1)?.build
  const first =
    build === undefined
      ? tasks[tasks.findLastIndex((task) => task.build !== last) + 1]
      : tasks.find((task) => task.build === build)
  if (first === undefined) return undefined
  const dropped = events.slice(events.findIndex(({ eventId }) => eventId === first.eventId))
  return {
    ...first,
    dropsCancellation: dropped.some((event) => event.workflowExecutionCancelRequestedEventAttributes),
  }
}

function buildOf({ deploymentVersion, workerVersion }: CompletedTask): string {
  return deploymentVersion?.buildId ?? workerVersion?.buildId ?? ''
}
