import type { Logger } from 'pino'
import { endWaking, nextToWake } from '../src/endpoints/endpoint-review.ts'
import type { Sql } from '../src/database/sql.ts'
import { forEachInFlight } from '../src/temporal/in-flight.ts'

/** Tells a lead's workflow to try its waiting webhook now; one that does not run is started from the record. */
export type WakeLead = (leadId: number) => Promise<unknown>

/** How far the leads of an endpoint are woken: in this round, those up to this id. */
export interface WakeProgress {
  round: number
  leadId: number
}

interface Dependencies {
  sql: Sql
  wakeLead: WakeLead
  log: Pick<Logger, 'warn'>
}

/** Well below live traffic. */
const LEADS_A_SECOND = 20

/**
 * Wakes the next leads of an endpoint that takes webhooks again. Repeated after a crash, it wakes the same ones, which changes
 * nothing. One that cannot be woken does not stop the others: the comparison tells it once its webhook is overdue.
 */
export function wakeLeadsActivity({ sql, wakeLead, log }: Dependencies) {
  return async (partnerId: number, progress: WakeProgress): Promise<WakeProgress> => {
    const { round, leadIds } = await nextToWake(sql, partnerId, progress, LEADS_A_SECOND)
    for (const { item: leadId, error: err } of await forEachInFlight(leadIds, wakeLead))
      log.warn({ err, lead_id: leadId }, 'cannot tell a lead that its endpoint takes webhooks again')
    if (leadIds.length < LEADS_A_SECOND) await endWaking(sql, partnerId, round)
    return { round, leadId: leadIds.at(-1) ?? progress.leadId }
  }
}
