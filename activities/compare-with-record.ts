import { cancellationSignal } from '@temporalio/activity'
import type { Client } from '@temporalio/client'
import type { Logger } from 'pino'
import type { Sql } from '../src/database/sql.ts'
import { endpointsAtWork } from '../src/endpoints/endpoint-review.ts'
import { compareLeads } from '../src/leads/comparison.ts'
import type { Referrals } from '../src/leads/referrals.ts'
import type { WorkerObserver } from '../src/observe/worker-metrics.ts'
import { forEachInFlight } from '../src/temporal/in-flight.ts'
import { endpointWorkflowId, referralId } from '../src/temporal/names.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../src/values.ts'
import { again, withHeartbeats } from './activity-context.ts'

/** Twice the interval of comparisons, so that a late one leaves no gap. */
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
  client: Client
  referrals: Referrals
  startEndpoint: (partnerId: number) => Promise<unknown>
  observe: Pick<WorkerObserver, 'scheduleEnded'>
  log: Pick<Logger, 'error' | 'warn'>
}

/**
 * Repairs workflows from the record: starts those of leads that ended recently and of endpoints that have something to do,
 * and wakes leads whose webhook is overdue. From `allAt` on, and after a restore, it compares all
 * open leads. A repeat, or another one at the same time, changes nothing.
 */
export function compareWithRecordActivity({ startEndpoint, observe, log, ...comparing }: Dependencies) {
  return (allAt: number): Promise<Comparison> =>
    withHeartbeats(async () => {
      const began = Date.now()
      const signal = cancellationSignal()
      const endpoints = await forEachInFlight(await endpointsAtWork(comparing.sql), startEndpoint)
      for (const { item: id, error: err } of endpoints) {
        const facts = { err, partner_id: id, workflow_id: endpointWorkflowId(id) }
        log.error(facts, 'cannot start an endpoint’s workflow')
      }
      const all = began >= allAt
      const endedSince = all ? undefined : began - LOOK_BACK_MS
      const leads = await compareLeads(comparing, { endedSince, signal })
      for (const { item: leadId, error: err } of leads.failed) {
        const facts = { err, lead_id: leadId, workflow_id: referralId(leadId) }
        log.error(facts, 'cannot repair a lead’s workflow from the record')
      }
      if (signal.aborted) throw again('the worker stops')
      const repaired = leads.started.length + leads.refreshed.length
      if (repaired > 0) log.warn({ repaired }, 'repaired leads’ workflows from the record')
      observe.scheduleEnded('comparison')
      const nextAllAt = began + (leads.failed.length === 0 ? DAY_MS : HOUR_MS)
      return { repaired, failed: leads.failed.length + endpoints.length, allAt: all ? nextAllAt : allAt }
    })
}
