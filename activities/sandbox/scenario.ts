import { recordAudit } from '../../src/core/audit/statements/audit.ts'
import { clockStart } from '../../src/capabilities/sandbox/statements/move-clock.ts'
import { readLeadClock } from '../../src/capabilities/sandbox/statements/next-due.ts'
import type { Sql } from '../../src/core/database/orm.ts'
import {
  beginScenario,
  endScenario,
  isPassing,
} from '../../src/capabilities/sandbox/statements/sandbox-runs.ts'
import { again } from '../again.ts'
import type { ScoreGains } from '../../src/core/leads/decisions/event-payloads.ts'
import { type ClockStart, furthestOf } from '../../src/capabilities/sandbox/decisions/lead-clock.ts'
import type { SignalledMilestone } from '../../src/core/leads/decisions/milestones.ts'
import type { CloseReason } from '../../src/core/leads/decisions/reasons.ts'

const SECOND_MS = 1000

interface Simulation {
  /** The same key counts once. */
  key: string
  events: { name: SignalledMilestone; gains?: ScoreGains }[]
}

interface Dependencies {
  sql: Sql
  /** Sends milestones to the lead's workflow, which tells the scenario once they are recorded. */
  play: (leadId: number, simulation: Simulation) => Promise<'sent' | 'closed'>
  /** Closes a lead because its borrower dropped out. */
  close: (leadId: number, reason: CloseReason) => Promise<unknown>
}

/** What a scenario does to a lead, without waiting for it. */
export function scenarioActivities({ sql, play, close }: Dependencies) {
  return {
    /** False if the scenario is over: then it is not played again. */
    beginScenario: async (id: number): Promise<boolean> => beginScenario(sql, id),

    sendMilestones: play,

    /**
     * The lead's time and how far it can be moved, in milliseconds, and where its history stands; `null` once it is closed.
     * "Again" while it moves.
     */
    async readClock(leadId: number): Promise<{ now: number; furthest: number; since: ClockStart } | null> {
      if (await isPassing(sql, leadId)) throw again('the clock is moving', SECOND_MS)
      const clock = await readLeadClock(sql, leadId)
      if (clock === undefined || clock.isClosed) return null
      return { now: clock.now, furthest: furthestOf(clock), since: await clockStart(sql, leadId) }
    },

    /** With its rows in the audit, as when staff close a lead. */
    async dropOut(leadId: number, reason: CloseReason): Promise<void> {
      const row = { action: 'lead.close', leadId, detail: { reason } }
      const begunId = await recordAudit(sql, 'scenario', { ...row, outcome: 'begun' })
      await close(leadId, reason)
      await recordAudit(sql, 'scenario', { ...row, outcome: 'done', begunId })
    },

    /** Frees the scenario's place for the partner's next one. */
    endScenario: async (id: number): Promise<void> => endScenario(sql, id),
  }
}
