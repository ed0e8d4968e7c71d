import { type ActingFrom, type AuditedAction, recordAudit } from '../core/audit/statements/audit.ts'
import type { Orm } from '../core/database/orm.ts'
import { type Em, type Sql, sqlIn, sqlOf } from '../core/database/sql.ts'
import { failureOf } from './refusal.ts'

/** Who acts, and where. */
export type Actor = { name: string } & ActingFrom

/** A transaction: what it writes and its audit row are committed together. */
interface Change {
  em: Em
  sql: Sql
  /** Notes what is done. */
  audit: (action: AuditedAction) => Promise<void>
}

/** What an action answers, and what its audit row adds to the action's `detail`. */
interface Acted<Result> {
  result: Result
  detail?: Record<string, unknown>
}

/** How commands do something, or show borrowers, with its rows in the audit. The first row is written before anything is done, so a login without the right to is refused. */
export function createActing(orm: Orm, actor: Actor) {
  const sql = sqlOf(orm)
  return {
    /** Runs `work` in one transaction, in which nothing but PostgreSQL is called. */
    change: async <Result>(work: (change: Change) => Promise<Result>): Promise<Result> => {
      return orm.em.fork().transactional(async (em) => {
        const trx = sqlIn(em)
        const audit = async (action: AuditedAction) =>
          void (await recordAudit(trx, actor, { ...action, outcome: 'done' }))
        return work({ em, sql: trx, audit })
      })
    },
    /** Runs `work` that takes more than one transaction, between two audit rows. */
    act: async <Result>(action: AuditedAction, work: () => Promise<Acted<Result>>): Promise<Result> => {
      return betweenAuditRows(sql, actor, action, work)
    },
    /** Writes down that borrowers were looked at, before they are shown. */
    recordLook: async (action: AuditedAction): Promise<void> => {
      await recordAudit(sql, actor, { ...action, outcome: 'done' })
    },
  }
}

/**
 * The second row is missing where the command was killed, or PostgreSQL was away at its end. A failure to write it is
 * no failure of the command: the action has taken effect.
 */
async function betweenAuditRows<Result>(
  sql: Sql,
  actor: Actor,
  action: AuditedAction,
  work: () => Promise<Acted<Result>>,
): Promise<Result> {
  const begunId = await recordAudit(sql, actor, { ...action, outcome: 'begun' })
  const end = async (outcome: 'done' | 'failed' | 'unknown', detail: Record<string, unknown> = {}) => {
    const row = { ...action, outcome, begunId, detail: { ...action.detail, ...detail } }
    await recordAudit(sql, actor, row).catch(() => undefined)
  }
  try {
    const { result, detail } = await work()
    await end('done', detail)
    return result
  } catch (error) {
    const { outcome, reason } = failureOf(error)
    await end(outcome, { failure: reason })
    throw error
  }
}
