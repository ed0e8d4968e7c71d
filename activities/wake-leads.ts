import { findDraining, renewSchedules, requestsInFlight } from '../src/core/endpoints/statements/draining.ts'
import type { Sql } from '../src/core/database/orm.ts'
import { DRAINING_IN_FLIGHT, type WakeProgress } from '../src/core/endpoints/decisions/draining.ts'

/** Tells a lead's workflow to try its waiting webhook now; one that does not run is started from the record. */
export type WakeLead = (leadId: number) => Promise<unknown>

/** The leads that were woken: as many as the endpoint has room for. */
export interface WokenLeads extends WakeProgress {
  count: number
  /** No lead is left to wake. */
  isLast: boolean
}

interface Dependencies {
  sql: Sql
  wakeLead: WakeLead
}

/**
 * Wakes the next leads with open deliveries to a draining endpoint, and waits for nothing: the endpoint's workflow makes
 * the pauses. Repeated after a crash, it wakes the same ones, which changes nothing.
 *
 * @returns `null` if the endpoint is not draining.
 */
export function wakeLeadsActivity({ sql, wakeLead }: Dependencies) {
  return async (endpointId: number, progress: WakeProgress): Promise<WokenLeads | null> => {
    const draining = await findDraining(sql, endpointId)
    if (draining === undefined) return null
    const { since, partnerId } = draining
    // set or resumed again since: wake all leads again
    const after = progress.since === since ? progress.leadId : 0
    const room = DRAINING_IN_FLIGHT - (await requestsInFlight(sql, partnerId))
    if (room <= 0) return { since, leadId: after, count: 0, isLast: false }
    const leadIds = await renewSchedules(sql, draining, after, room)
    await Promise.all(leadIds.map(async (leadId) => wakeLead(leadId)))
    return { since, leadId: leadIds.at(-1) ?? after, count: leadIds.length, isLast: leadIds.length < room }
  }
}
