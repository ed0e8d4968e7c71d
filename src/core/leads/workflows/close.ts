import { setTimeout as delay } from 'node:timers/promises'
import { closeSignal } from '../../../../workflows/messages.ts'
import type { Sql } from '../../database/orm.ts'
import type { CloseReason } from '../decisions/reasons.ts'
import { isClosed } from '../statements/closing.ts'
import type { Referrals } from './referrals.ts'

const PAUSE_MS = 50
const LIMIT_MS = 5000

/**
 * Has a lead's workflow close it, once what has arrived is recorded, and waits for the record to say so.
 *
 * @returns whether it was closed in time: without a worker, or while gains are asked for, it is closed later.
 */
export function createCloser({ sql, referrals }: { sql: Sql; referrals: Pick<Referrals, 'signal'> }) {
  return async (leadId: number, reason: CloseReason): Promise<boolean> => {
    await referrals.signal(leadId, closeSignal, { reason })
    const end = Date.now() + LIMIT_MS
    while (!(await isClosed(sql, leadId))) {
      if (Date.now() >= end) return false
      await delay(PAUSE_MS)
    }
    return true
  }
}
