import { activityInfo, heartbeat, sleep } from '@temporalio/activity'
import { type Draining, findDraining, renewSchedules } from '../src/db/endpoint-states.ts'
import type { Sql } from '../src/db/orm.ts'
import type { Referrals } from '../src/temporal/referrals.ts'

const LEADS_PER_SECOND = 20
const SECOND_MS = 1000

interface Dependencies {
  sql: Sql
  referrals: Referrals
}

/** How far it has come, kept by Temporal: after a crash the next attempt goes on from there. */
interface Progress {
  since: string
  /** Leads up to this id are awake. */
  leadId: number
}

/**
 * Wakes every lead with open deliveries to a draining endpoint, twenty a second, so that a partner who comes
 * back after days is not run over. A lead whose workflow does not run is started from the record.
 *
 * @returns which draining it has done that for, `null` when the endpoint does not drain (any more).
 */
export function wakeLeadsActivity({ sql, referrals }: Dependencies) {
  const wakePage = async (draining: Draining, afterLeadId: number): Promise<number | undefined> => {
    const began = Date.now()
    const leadIds = await renewSchedules(sql, draining, afterLeadId, LEADS_PER_SECOND)
    await Promise.all(leadIds.map((leadId) => referrals.signal(leadId, 'wake')))
    if (leadIds.length < LEADS_PER_SECOND) return undefined
    await sleep(Math.max(0, SECOND_MS - (Date.now() - began)))
    return leadIds.at(-1)
  }

  return async (endpointId: number): Promise<string | null> => {
    let progress = activityInfo().heartbeatDetails as Progress | undefined
    for (;;) {
      const draining = await findDraining(sql, endpointId)
      if (draining === undefined) return null
      const { since } = draining
      // set or resumed again since: all of them have to be woken again
      const leadId = await wakePage(draining, progress?.since === since ? progress.leadId : 0)
      if (leadId === undefined) return since
      progress = { since, leadId }
      heartbeat(progress)
    }
  }
}
