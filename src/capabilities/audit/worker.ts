import type { Logger } from 'pino'
import { auditHead } from './statements/audit-chain.ts'
import type { Sql } from '../../core/database/orm.ts'
import { DAY_MS } from '../../core/values/durations.ts'

/** So that the log of each day has it. */
const EVERY_MS = DAY_MS

/**
 * Logs the hash of the audit's latest row after each new row, and once a day: outside PostgreSQL it
 * proves that row and all before it, whatever happens to PostgreSQL.
 */
export function createAuditHeadLog(sql: Sql, log: Logger): () => Promise<void> {
  let logged: { head: string; atMs: number } | undefined
  return async () => {
    const head = await auditHead(sql)
    const atMs = performance.now()
    if (head === undefined || (head === logged?.head && atMs < logged.atMs + EVERY_MS)) return
    log.info({ audit_head: head }, 'the audit’s latest row')
    logged = { head, atMs }
  }
}
