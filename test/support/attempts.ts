import { newUuid } from '../../src/values.ts'
import type { Sql } from '../../src/database/sql.ts'
import type { AttemptTrigger } from '../../src/deliveries/delivery-states.ts'

interface TestAttempt {
  durationMs?: number
  errorCode?: string
  trigger?: AttemptTrigger
  /** The endpoint's, as it began. */
  round?: number
  inProgress?: boolean
}

/** Adds attempts at a partner's oldest webhook, in their order. */
export async function addAttempts(sql: Sql, partnerId: number, attempts: TestAttempt[]): Promise<void> {
  const { event_id, number } = await sql
    .selectFrom('deliveries')
    .leftJoin('attempts', 'attempts.event_id', 'deliveries.event_id')
    .select((eb) => ['deliveries.event_id', eb.fn.max('attempts.number').as('number')])
    .where('deliveries.partner_id', '=', partnerId)
    .groupBy('deliveries.event_id')
    .orderBy('deliveries.event_id')
    .limit(1)
    .executeTakeFirstOrThrow()
  const rows = attempts.map(
    ({ durationMs = 40, errorCode = null, trigger = 'scheduled', round = 1, inProgress }, index) => ({
      id: `att_${newUuid()}`,
      event_id,
      partner_id: partnerId,
      number: (number ?? 0) + 1 + index,
      trigger,
      round,
      url: 'https://lender.example/hook',
      error_code: errorCode,
      ...(inProgress !== true && { finished_at: new Date(), duration_ms: durationMs }),
    }),
  )
  await sql.insertInto('attempts').values(rows).execute()
}
