import type { Sql } from '../database/orm.ts'
import type { WorkerObserver } from '../../metrics/worker.ts'
import { endpointWorkflowId } from '../temporal/names.ts'
import type { Chore, Swept } from '../temporal/sweep.ts'
import { turnIncidents } from './statements/incidents.ts'
import { endpointsAtWork } from './statements/states.ts'
import type { StartEndpoint } from './workflows/endpoints.ts'

/** Endpoints that are paused or drain, or have emails to send. One is told to look at the record if it is urgent. */
export function endpointsLeftOut(startEndpoint: StartEndpoint): Swept {
  let urgent = new Set<number>()
  return {
    failure: 'cannot start an endpoint’s workflow; trying again every minute',
    idName: 'endpoint_id',
    workflowId: endpointWorkflowId,
    async find(sql, limit) {
      const found = await endpointsAtWork(sql, limit)
      urgent = new Set(found.flatMap(({ id, isUrgent }) => (isUrgent ? id : [])))
      return found.map(({ id }) => id)
    },
    start: (id) => startEndpoint(id, { quietly: !urgent.has(id) }),
  }
}

/** Notices that are owed because a trouble went on for long enough. */
export function dueIncidents(sql: Sql, observe: Pick<WorkerObserver, 'noticed'>): Chore {
  return async () => {
    for (const notice of await turnIncidents(sql)) observe.noticed(notice)
  }
}
