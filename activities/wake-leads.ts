import { activityInfo, heartbeat, sleep } from '@temporalio/activity'
import {
  type Draining,
  findDraining,
  renewSchedules,
  requestsInFlight,
} from '../src/db/endpoints/draining.ts'
import type { Sql } from '../src/db/orm.ts'

/** Well below live traffic. */
const LEADS_PER_SECOND = 20
const PAGE = 20
/** Half of an endpoint's cap: the rest is for live traffic. */
const IN_FLIGHT = 5
const SECOND_MS = 1000

/** Tells a lead's workflow to try its waiting webhook now; one that does not run is started from the record. */
export type WakeLead = (leadId: number) => Promise<unknown>

interface Dependencies {
  sql: Sql
  wakeLead: WakeLead
}

/** Heartbeat details: after a crash, the next attempt continues from here. */
interface Progress {
  since: string
  /** Leads up to this id are awake. */
  leadId: number
}

/**
 * Wakes every lead with open deliveries to a draining endpoint, twenty a second, to avoid a thundering herd. Starts a
 * lead's workflow from the record if it is not running.
 *
 * @returns the draining it did this for; `null` if the endpoint is not draining.
 */
export function wakeLeadsActivity({ sql, wakeLead }: Dependencies) {
  const wakePage = async (draining: Draining, progress: Progress): Promise<number | undefined> => {
    const leadIds = await renewSchedules(sql, draining, progress.leadId, PAGE)
    for (const leadId of leadIds) {
      while ((await requestsInFlight(sql, draining.partnerId)) >= IN_FLIGHT) {
        heartbeat(progress)
        await sleep(SECOND_MS / LEADS_PER_SECOND)
      }
      await Promise.all([wakeLead(leadId), sleep(SECOND_MS / LEADS_PER_SECOND)])
    }
    return leadIds.length < PAGE ? undefined : leadIds.at(-1)
  }

  return async (endpointId: number): Promise<string | null> => {
    let progress = (activityInfo().heartbeatDetails ?? { since: '', leadId: 0 }) as Progress
    for (;;) {
      const draining = await findDraining(sql, endpointId)
      if (draining === undefined) return null
      const { since } = draining
      // set or resumed again since: wake all leads again
      if (progress.since !== since) progress = { since, leadId: 0 }
      const leadId = await wakePage(draining, progress)
      if (leadId === undefined) return since
      progress = { since, leadId }
      heartbeat(progress)
    }
  }
}
