import { setTimeout as delay } from 'node:timers/promises'
import { sql as raw } from 'kysely'
import type { Sql } from '../../src/database/sql.ts'
import type { LeadJournal } from './evidence.ts'
import { factsOf } from './load-plan.ts'
import type { Ask } from './partner-api.ts'
import type { ChaosPartner } from './partners.ts'

const LOOK_MS = 500
/** How long all may take that was left to do when everything was healed. */
const LIMIT_MS = 300_000
/** An endpoint that failed twice is tried again in five minutes: its partner resumes it instead, and waits for what that wakes. */
const RESUME_EVERY_MS = 60_000

interface Settling {
  sql: Sql
  ask: Ask
  partners: ChaosPartner[]
  leads: LeadJournal[]
  /** Resolves when all that is sent was acknowledged. */
  sent: Promise<unknown>
}

/**
 * Waits until nothing is pending: everything acknowledged, recorded and delivered.
 *
 * @returns how long it took, and what was left to do then: 0 unless it took too long.
 */
export async function settle({ sql, ask, partners, leads, sent }: Settling) {
  const began = performance.now()
  const unsent = new Set([sent])
  void sent.then(() => unsent.clear())
  let resumedAt = Number.NEGATIVE_INFINITY
  const look = () => backlog(sql, leads).catch(() => 1)
  let left = await look()
  while ((left > 0 || unsent.size > 0) && performance.now() < began + LIMIT_MS) {
    if (performance.now() > resumedAt + RESUME_EVERY_MS) {
      resumedAt = performance.now()
      for (const partner of partners)
        for (const path of ['pause-endpoint', 'resume-endpoint']) await ask(partner, path, {})
    }
    await delay(LOOK_MS)
    left = await look()
  }
  return { tookMs: performance.now() - began, left: left + unsent.size }
}

/** Milestones to record, webhooks to deliver, workflows to start, and endpoints that are not active. */
async function backlog(sql: Sql, leads: LeadJournal[]): Promise<number> {
  const kept = leads.filter(({ isLost }) => !isLost)
  const expected = kept.reduce((sum, lead) => sum + 1 + factsOf(lead).size, 0)
  const { rows } = await raw<{ recorded: number; open: number }>`
    select (select count(*)::int from lead_events) as recorded,
      (select count(*)::int from deliveries where state = 'pending')
      + (select count(*)::int from leads where workflow_started_at is null)
      + (select count(*)::int from endpoints where state <> 'active') as open`.execute(sql)
  const { recorded = 0, open = 0 } = rows[0] ?? {}
  return Math.max(0, expected - recorded) + open
}
