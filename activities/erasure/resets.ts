import type { ResetReview } from '../../src/capabilities/erasure/decisions/reset.ts'
import { checkErasures } from '../../src/capabilities/erasure/statements/check.ts'
import { eraseLeads } from '../../src/capabilities/erasure/statements/erase.ts'
import type { ErasureTools } from '../../src/capabilities/erasure/statements/journal.ts'
import {
  finishReset,
  leadsToCheck,
  leadsToErase,
  reviewReset,
} from '../../src/capabilities/erasure/statements/resets.ts'
import type { Sql } from '../../src/core/database/orm.ts'
import { again } from '../again.ts'
import { IN_FLIGHT_MS } from './erasures.ts'

interface Dependencies {
  sql: Sql
  erasure: ErasureTools
  /** Ends a lead's workflows, by force if asked. @returns whether its own has ended. */
  endWorkflows: (leadId: number, byForce: boolean) => Promise<boolean>
}

/** How many leads' workflows are ended at a time. */
const AT_A_TIME = 10

/** What the workflow of a partner that begins again does, a page of leads at a time. Each of these may be repeated. */
export function resetActivities({ sql, erasure, endWorkflows }: Dependencies) {
  /**
   * By force: nobody waits for these workflows, and the record has all that they know. Asked to end, each would take a task
   * and a second look.
   *
   * @returns whether all have ended.
   */
  async function endAll(leadIds: readonly number[]): Promise<boolean> {
    let ended = true
    for (let start = 0; start < leadIds.length; start += AT_A_TIME) {
      const ends = leadIds.slice(start, start + AT_A_TIME).map(async (id) => endWorkflows(id, true))
      ended = (await Promise.all(ends)).every(Boolean) && ended
    }
    return ended
  }

  return {
    /** `null` once it is finished. */
    reviewReset: async (partnerId: number): Promise<ResetReview | null> =>
      (await reviewReset(sql, partnerId)) ?? null,

    /** Erases a page of leads, unless they are held. @returns the last; `null` if there was none. */
    async eraseForReset(partnerId: number, after: number): Promise<number | null> {
      const { ids, requestedBy } = await leadsToErase(sql, partnerId, after)
      await eraseLeads(sql, ids, erasure, { by: requestedBy, reason: 'reset', isQuiet: true })
      return ids.at(-1) ?? null
    },

    /**
     * Ends the workflows of a page of erased leads, and reads back what is left.
     *
     * @returns the last; `null` if there was none.
     */
    async checkForReset(partnerId: number, after: number): Promise<number | null> {
      const ids = await leadsToCheck(sql, partnerId, after)
      if (!(await endAll(ids))) throw again('workflows of leads are still running')
      const left = await checkErasures(sql, ids)
      if (left.length > 0) throw again('requests of the leads’ webhooks are in flight', IN_FLIGHT_MS)
      return ids.at(-1) ?? null
    },

    finishReset: async (partnerId: number): Promise<void> => finishReset(sql, partnerId),
  }
}
