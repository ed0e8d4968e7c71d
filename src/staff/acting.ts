import { type AuditedAction, recordAudit } from '../db/audit.ts'
import type { Sql } from '../db/orm.ts'
import { outcomeOf } from './refusal.ts'

/** What came of a command: its result, and what the audit keeps of it. */
export interface Acted<Result> {
  result: Result
  detail?: Record<string, unknown>
}

/**
 * Does what takes more than one transaction: the audit has a line before it, and one that says what came of it. That
 * one is missing where the command was killed, or PostgreSQL was away at its end: what was done must not be lost to it.
 */
export async function betweenTwoLines<Result>(
  sql: Sql,
  actor: string,
  action: AuditedAction,
  work: () => Promise<Acted<Result>>,
): Promise<Result> {
  const begunId = await recordAudit(sql, actor, { ...action, outcome: 'begun' })
  const end = async (outcome: 'done' | 'failed' | 'unknown', detail: Record<string, unknown> = {}) => {
    await recordAudit(sql, actor, {
      ...action,
      outcome,
      begunId,
      detail: { ...action.detail, ...detail },
    }).catch(() => undefined)
  }
  try {
    const { result, detail } = await work()
    await end('done', detail)
    return result
  } catch (error) {
    const { outcome, failure } = outcomeOf(error)
    await end(outcome, { failure })
    throw error
  }
}
