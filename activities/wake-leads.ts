import type { Logger } from 'pino'
import { findDraining, renewSchedules, requestsInFlight } from '../src/core/endpoints/statements/draining.ts'
import { unsentNotices } from '../src/core/endpoints/statements/notices.ts'
import type { Sql } from '../src/core/database/orm.ts'
import { forEachInFlight } from '../src/core/temporal/in-flight.ts'
import {
  DRAINING_IN_FLIGHT,
  isCrowdedOut,
  type WakeProgress,
} from '../src/core/endpoints/decisions/draining.ts'

/** Tells a lead's workflow to try its waiting webhook now; one that does not run is started from the record. */
export type WakeLead = (leadId: number) => Promise<unknown>

/** The leads that were woken: as many as the endpoint has room for. */
export interface WokenLeads extends WakeProgress {
  count: number
  /** No lead is left to wake. */
  isLast: boolean
  /** Emails about the endpoint that wait to be sent. */
  unsent: number
}

interface Dependencies {
  sql: Sql
  wakeLead: WakeLead
  log: Pick<Logger, 'warn'>
}

/**
 * Wakes the next leads with open deliveries to a draining endpoint, and waits for nothing: the endpoint's workflow makes
 * the pauses. Repeated after a crash, it wakes the same ones, which changes nothing. One that cannot be woken does not stop the
 * others: the comparison tells it once its webhook is overdue.
 *
 * @param full how often in a row there was no room for any.
 * @returns `null` if the endpoint is not draining.
 */
export function wakeLeadsActivity({ sql, wakeLead, log }: Dependencies) {
  return async (endpointId: number, progress: WakeProgress, full = 0): Promise<WokenLeads | null> => {
    const draining = await findDraining(sql, endpointId)
    if (draining === undefined) return null
    const { since, partnerId } = draining
    // set or resumed again since: wake all leads again
    const after = progress.since === since ? progress.leadId : 0
    const { length: unsent } = await unsentNotices(sql, partnerId)
    const free = DRAINING_IN_FLIGHT - (await requestsInFlight(sql, partnerId))
    const room = Math.max(free, isCrowdedOut(full) ? 1 : 0)
    if (room === 0) return { since, leadId: after, count: 0, isLast: false, unsent }
    const leadIds = await renewSchedules(sql, draining, after, room)
    for (const { item: leadId, error: err } of await forEachInFlight(leadIds, wakeLead))
      log.warn({ err, lead_id: leadId }, 'cannot tell a lead that its endpoint takes webhooks again')
    const isLast = leadIds.length < room
    return { since, leadId: leadIds.at(-1) ?? after, count: leadIds.length, isLast, unsent }
  }
}
