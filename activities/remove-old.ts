import { cancellationSignal } from '@temporalio/activity'
import type { Logger } from 'pino'
import type { WorkerObserver } from '../src/observe/worker-metrics.ts'
import { type Removal, removeOld, type RetainedName, retainedNames } from '../src/privacy/retention.ts'
import { forEachInFlight } from '../src/temporal/in-flight.ts'
import { again, withHeartbeats } from './activity-context.ts'

interface Dependencies extends Omit<Removal, 'signal'> {
  observe: Pick<WorkerObserver, 'scheduleEnded'>
  log: Pick<Logger, 'warn'>
}

/**
 * Removes old rows, class by class. A class that fails does not stop the others; then all are tried again. Concurrent runs do
 * no harm.
 *
 * @returns how many rows of each class.
 */
export function removeOldActivity({ observe, log, ...removal }: Dependencies) {
  return (): Promise<Record<string, number>> =>
    withHeartbeats(async () => {
      const signal = cancellationSignal()
      const removed: Record<string, number> = {}
      const remove = async (name: RetainedName) => {
        const rows = await removeOld({ ...removal, signal }, name)
        if (rows !== undefined) removed[name] = rows
      }
      const failed = await forEachInFlight(retainedNames, remove, { signal, limit: 1 })
      for (const { item, error: err } of failed)
        log.warn({ class: item, err }, 'cannot remove what is old; trying again every minute')
      if (signal.aborted) throw again('the worker stops')
      if (failed[0] !== undefined) throw failed[0].error
      observe.scheduleEnded('retention')
      return removed
    })
}
