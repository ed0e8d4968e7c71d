import type { Sql } from '../../database/orm.ts'
import { LEAD_CLOSED_WEBHOOK, type Notification } from '../../leads/decisions/closed-webhook.ts'

/** What a partner asked to be told of beside milestones. */
export const notificationsOf = (endpoint: { is_told_of_closing: boolean }): Notification[] =>
  endpoint.is_told_of_closing ? [LEAD_CLOSED_WEBHOOK] : []

/** Sets what a partner is told of beside milestones, from now on. @returns whether that changed anything. */
export async function setNotifications(
  trx: Sql,
  partnerId: number,
  wanted: readonly Notification[],
): Promise<boolean> {
  const isTold = wanted.includes(LEAD_CLOSED_WEBHOOK)
  const { numUpdatedRows } = await trx
    .updateTable('endpoints')
    .set({ is_told_of_closing: isTold })
    .where('partner_id', '=', partnerId)
    .where('is_told_of_closing', '!=', isTold)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}
