import type { Sql } from '../database/orm.ts'
import type { WorkerObserver } from '../../metrics/worker.ts'
import { endpointWorkflowId } from '../temporal/names.ts'
import type { Chore, Swept } from '../temporal/sweep.ts'
import { turnIncidents } from './statements/incidents.ts'
import { type AtWork, endpointsAtWork } from './statements/states.ts'
import type { StartEndpoint } from './workflows/endpoints.ts'

/**
 * Endpoints that are paused or drain, or have emails to send. Workflows are told to look at the record, once by each
 * process, where they may not know it yet.
 */
export function endpointsLeftOut(startEndpoint: StartEndpoint): Swept {
  let found = new Map<number, AtWork>()
  /** Since when that is so what each was told of. */
  const told = new Map<number, string>()
  return {
    failure: 'cannot start an endpoint’s workflow; trying again every minute',
    idName: 'endpoint_id',
    workflowId: endpointWorkflowId,
    async find(sql, limit) {
      found = new Map((await endpointsAtWork(sql, limit)).map((endpoint) => [endpoint.id, endpoint]))
      return [...found.keys()]
    },
    async start(id) {
      const { isUnseen = false, since = '' } = found.get(id) ?? {}
      const quietly = !isUnseen || told.get(id) === since
      await startEndpoint(id, { quietly })
      if (!quietly) told.set(id, since)
    },
  }
}

/** Notices that are owed because a trouble went on for long enough. */
export function dueIncidents(sql: Sql, observe: Pick<WorkerObserver, 'noticed'>): Chore {
  return async () => {
    for (const notice of await turnIncidents(sql)) observe.noticed(notice)
  }
}
