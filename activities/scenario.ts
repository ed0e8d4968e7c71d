import { clockStart } from '../src/db/leads/move-clock.ts'
import { readLeadClock } from '../src/db/leads/next-due.ts'
import type { Sql } from '../src/db/orm.ts'
import type { ScoreGains } from '../src/domain/event-payloads.ts'
import type { ClockStart } from '../src/domain/lead-clock.ts'
import type { SignalledMilestone } from '../src/domain/milestones.ts'
import { again } from './again.ts'

interface Simulation {
  /** The same key counts once. */
  key: string
  events: { name: SignalledMilestone; gains?: ScoreGains }[]
}

export interface ScenarioDependencies {
  sql: Sql
  /** Sends milestones to the lead's workflow and waits until they are recorded. */
  simulate: (leadId: number, simulation: Simulation) => Promise<readonly unknown[] | 'closed' | 'unanswered'>
  /** Closes a lead because its borrower dropped out. */
  close: (leadId: number, reason: string) => Promise<unknown>
}

/** What a scenario does to a lead. Sandbox only: nothing else starts its workflow. */
export function scenarioActivities({ sql, simulate, close }: ScenarioDependencies) {
  return {
    async simulateMilestones(leadId: number, simulation: Simulation): Promise<'recorded' | 'closed'> {
      const answers = await simulate(leadId, simulation)
      if (answers === 'unanswered') throw again('the lead’s workflow has not answered')
      return answers === 'closed' ? 'closed' : 'recorded'
    },

    /** The lead's time, in milliseconds, and where its history stands; `null` once it is closed. */
    async readClock(leadId: number): Promise<{ now: number; since: ClockStart } | null> {
      const clock = await readLeadClock(sql, leadId)
      if (clock === undefined || clock.isClosed) return null
      return { now: clock.now, since: await clockStart(sql, leadId) }
    },

    dropOut: async (leadId: number, reason: string) => void (await close(leadId, reason)),
  }
}
