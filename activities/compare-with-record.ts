import { cancellationSignal } from '@temporalio/activity'
import type { Logger } from 'pino'
import type { Sql } from '../src/core/database/sql.ts'
import { turnIncidents } from '../src/core/endpoints/statements/incidents.ts'
import { endpointsAtWork } from '../src/core/endpoints/statements/states.ts'
import { forEachInFlight } from '../src/core/temporal/in-flight.ts'
import { endpointWorkflowId, referralId } from '../src/core/temporal/names.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../src/core/values/durations.ts'
import type { WorkerObserver } from '../src/metrics/worker.ts'
import { again } from './again.ts'
import type { Mailer } from './mailer.ts'
import { tellRestored } from './tell-restored.ts'
import { whileBeating } from './while-beating.ts'

/** Two comparisons, so that one that is late leaves no gap. */
const LOOK_BACK_MS = 10 * MINUTE_MS

/** The result, for operators and the next comparison. */
export interface Comparison {
  /** Leads' workflows that were started, or told to read the record again. */
  repaired: number
  /** Leads and endpoints for which that failed. */
  failed: number
  /** When all leads are compared next, in milliseconds since 1970. */
  allAt: number
}

interface Dependencies {
  sql: Sql
  /** Those that ended a while ago or are overdue, or all. */
  compareLeads: (
    which: { all: boolean; endedSince: number },
    told: { signal: AbortSignal; onFailure: (error: unknown, leadId: number) => void },
  ) => Promise<{ repaired: number; failed: number }>
  startEndpoint: (endpointId: number, options: { quietly: boolean }) => Promise<unknown>
  mailer: Mailer
  observe: Pick<WorkerObserver, 'noticed' | 'scheduleEnded'>
  log: Pick<Logger, 'error' | 'warn'>
}

/**
 * Brings what runs in Temporal to what the record says: starts the workflows of leads that ended recently and of endpoints
 * that have something to do, and tells leads whose webhook is overdue. From `allAt` on, and after a restore,
 * all open leads are compared, and partners are told of a restore. A
 * repeat, or another one at the same time, changes nothing.
 */
export function compareWithRecordActivity(dependencies: Dependencies) {
  const { sql, compareLeads, observe, log } = dependencies
  const onFailure = (err: unknown, leadId: number) => {
    const facts = { err, lead_id: leadId, workflow_id: referralId(leadId) }
    log.error(facts, 'cannot bring a lead’s workflow to what the record says')
  }
  return (allAt: number): Promise<Comparison> =>
    whileBeating(async () => {
      const began = Date.now()
      const signal = cancellationSignal()
      await tellRestored(dependencies)
      for (const notice of await turnIncidents(sql)) observe.noticed(notice)
      const endpoints = await startEndpoints(dependencies)
      const all = began >= allAt
      const leads = await compareLeads({ all, endedSince: began - LOOK_BACK_MS }, { signal, onFailure })
      if (signal.aborted) throw again('the worker stops')
      const { repaired } = leads
      if (repaired > 0) log.warn({ repaired }, 'brought leads’ workflows to what the record says')
      observe.scheduleEnded('comparison')
      const nextAllAt = began + (leads.failed === 0 ? DAY_MS : HOUR_MS)
      return { repaired, failed: leads.failed + endpoints.failed, allAt: all ? nextAllAt : allAt }
    })
}

async function startEndpoints({ sql, startEndpoint, log }: Dependencies): Promise<{ failed: number }> {
  const start = (endpoint: { id: number; isUnseen: boolean }) =>
    startEndpoint(endpoint.id, { quietly: !endpoint.isUnseen })
  const failed = await forEachInFlight(await endpointsAtWork(sql), start)
  for (const { item, error: err } of failed) {
    const facts = { err, endpoint_id: item.id, workflow_id: endpointWorkflowId(item.id) }
    log.error(facts, 'cannot start an endpoint’s workflow')
  }
  return { failed: failed.length }
}
