import { type findDeliveries, nextAttemptOf } from '../statements/list.ts'

type Row = Awaited<ReturnType<typeof findDeliveries>>[number]

/** When a delivery is attempted next, after which one of its lead, or why it cannot be. */
export function nextText(row: Row): Date | string | null {
  if (row.fault !== null) return row.fault
  return row.state === 'pending' && row.waits_for ? `after ${row.waits_for.sequence}` : nextAttemptOf(row)
}
