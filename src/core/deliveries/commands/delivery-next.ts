import { type findDeliveries, nextAttemptOf } from '../statements/list.ts'

type Row = Awaited<ReturnType<typeof findDeliveries>>[number]

/** When a delivery is attempted next, or after which one of its lead. */
export function nextText(row: Row): Date | string | null {
  return row.state === 'pending' && row.waits_for ? `after ${row.waits_for.sequence}` : nextAttemptOf(row)
}
