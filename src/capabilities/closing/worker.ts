import type { Client } from '@temporalio/client'
import { closeSignal } from '../../../workflows/messages.ts'
import type { Sql } from '../../core/database/orm.ts'
import type { AnyCloseReason } from '../../core/leads/decisions/reasons.ts'
import type { Referrals } from '../../core/leads/workflows/referrals.ts'
import type { Swept } from '../../core/temporal/sweep.ts'
import { closingId } from './decisions/closing.ts'
import { closingsToStart, isClosingUnseen } from './statements/carry-out.ts'
import { createClosingStarter } from './workflows/closings.ts'

/** Closings that wait. */
export function closingsLeftOut(dependencies: { client: Client; sql: Sql }): Swept {
  const { sql } = dependencies
  const start = createClosingStarter(dependencies)
  return {
    failure: 'cannot start a lead’s closing; trying again every minute',
    idName: 'lead_id',
    workflowId: closingId,
    find: closingsToStart,
    // a running one may wait for the day of what is to be told again
    start: async (leadId) => start(leadId, { quietly: !(await isClosingUnseen(sql, leadId)) }),
  }
}

/** What the activities of closings work with. */
export const forClosing = (referrals: Referrals) => ({
  /** Asks a lead's workflow to close it. */
  askToClose: async (leadId: number, reason: AnyCloseReason): Promise<void> =>
    void (await referrals.signal(leadId, closeSignal, { reason })),
})
