import { cancellationSignal } from '@temporalio/activity'
import type { Logger } from 'pino'
import { RetentionHeld } from '../src/database/retained.ts'
import type { WorkerObserver } from '../src/observe/worker-metrics.ts'
import { again, whileBeating } from './activity-context.ts'

interface Dependencies {
  /** What may become old; a removal answers how many rows it removed, `undefined` if it is off. */
  removals: readonly {
    name: string
    remove: (options: {
      signal: AbortSignal
      onRemoved: WorkerObserver['removed']
    }) => Promise<number | undefined>
  }[]
  observe: Pick<WorkerObserver, 'removed' | 'scheduleEnded'>
  log: Pick<Logger, 'warn'>
}

/**
 * Removes what is old. A class that fails stops no other, and is tried again with all of them; what was removed by then is
 * gone, so two at a time do no harm.
 *
 * @returns how many rows of each class.
 */
export function removeOldActivity({ removals, observe, log }: Dependencies) {
  return (): Promise<Record<string, number>> =>
    whileBeating(async () => {
      const signal = cancellationSignal()
      const removed: Record<string, number> = {}
      const failures: unknown[] = []
      for (const { name, remove } of removals) {
        try {
          const rows = await remove({ signal, onRemoved: observe.removed })
          if (rows !== undefined) removed[name] = rows
        } catch (error) {
          // the clock is wrong for all of them
          if (error instanceof RetentionHeld) throw error
          log.warn({ class: name, err: error }, 'cannot remove what is old; trying again every minute')
          failures.push(error)
        }
      }
      if (signal.aborted) throw again('the worker stops')
      if (failures.length > 0) throw failures[0]
      observe.scheduleEnded('retention')
      return removed
    })
}
