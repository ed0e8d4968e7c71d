import { setTimeout as delay } from 'node:timers/promises'
import { sql as raw } from 'kysely'
import type { Sql } from '../../src/core/database/orm.ts'
import type { LeadJournal } from './evidence.ts'
import { factsOf } from './facts.ts'
import type { PartnerApi } from './partner-api.ts'
import { resume } from './endpoint-changes.ts'
import type { ChaosPartner } from './partners.ts'

const LOOK_MS = 500
/** How long all may take that was left to do when everything was healed, and each item of it. */
const LIMIT_MS = 180_000
const LIMIT_PER_ITEM_MS = 100
/** Above the longest wait that is not one of a failing endpoint's. */
const NO_PROGRESS_MS = 90_000
/** An endpoint that failed twice is tried again in five minutes: its partner resumes it instead. */
const WAITING_FAILURES = 2
/** A resume wakes twenty leads a second, from the first one on. */
const RESUME_EVERY_MS = 60_000

interface Settling {
  sql: Sql
  api: PartnerApi
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
export async function settle({
  sql,
  api,
  partners,
  leads,
  sent,
}: Settling): Promise<{ tookMs: number; left: number }> {
  const began = performance.now()
  const unsent = new Set([sent])
  void sent.then(() => unsent.clear())
  const resumedAt = new Map<ChaosPartner, number>()
  const resumeOnce = async (partner: ChaosPartner) => {
    if (performance.now() < (resumedAt.get(partner) ?? Number.NEGATIVE_INFINITY) + RESUME_EVERY_MS) return
    await resume(partner, api)
    resumedAt.set(partner, performance.now())
  }
  for (const partner of partners) if (['flaky', 'away'].includes(partner.character)) await resumeOnce(partner)
  let left = await backlog(sql, leads)
  const limit = began + LIMIT_MS + left * LIMIT_PER_ITEM_MS
  let progressAt = performance.now()
  while ((left > 0 || unsent.size > 0) && performance.now() < Math.min(limit, progressAt + NO_PROGRESS_MS)) {
    await delay(LOOK_MS)
    const now = await backlog(sql, leads)
    if (now !== left) progressAt = performance.now()
    left = now
    for (const partner of partners) if (await isWaiting(sql, partner.id)) await resumeOnce(partner)
  }
  return { tookMs: performance.now() - began, left: left + unsent.size }
}

/** Milestones to record, webhooks to deliver, workflows to start, and endpoints that are not active. */
async function backlog(sql: Sql, leads: LeadJournal[]): Promise<number> {
  const expected = leads.reduce((sum, lead) => sum + 1 + factsOf(lead).size, 0)
  const { rows } = await raw<{ recorded: number; open: number }>`
    select (select count(*)::int from lead_events) as recorded,
      (select count(*)::int from deliveries where state = 'pending')
      + (select count(*)::int from leads where workflow_started_at is null)
      + (select count(*)::int from endpoints where state <> 'active') as open`.execute(sql)
  const { recorded = 0, open = 0 } = rows[0] ?? {}
  return Math.max(0, expected - recorded) + open
}

async function isWaiting(sql: Sql, partnerId: number): Promise<boolean> {
  const waiting = await sql
    .selectFrom('deliveries')
    .select('event_id')
    .where('partner_id', '=', partnerId)
    .where('state', '=', 'pending')
    .where('failures', '>=', WAITING_FAILURES)
    .limit(1)
    .execute()
  return waiting.length > 0
}
