import { sql as raw } from 'kysely'
import { ENDPOINT_CAP } from '../../domain/delivery.ts'
import type { Sql } from '../orm.ts'

/**
 * The requests in flight to a partner's endpoint (unexpired leases), and how many deliveries are due if it is at its cap
 * or its circuit breaker is open. Runs after the endpoint is locked: before, it could miss an attempt that just began.
 */
export async function loadOf(trx: Sql, partnerId: number) {
  const now = raw<Date>`clock_timestamp()`
  const { rows } = await raw<{ inFlight: number; oldestLeaseEndsAt: Date | null; due: number; now: Date }>`
    select ${now} as now, leased."inFlight", leased."oldestLeaseEndsAt", case
      when leased."inFlight" >= ${ENDPOINT_CAP}
        or (select blocked_until > ${now} from endpoints where partner_id = ${partnerId}) then (
        select count(*)::int from deliveries
        where partner_id = ${partnerId} and state = 'pending' and next_attempt_at <= ${now}
      ) else 0 end as due
    from (
      select count(*)::int as "inFlight", min(leased_until) as "oldestLeaseEndsAt" from deliveries
      where partner_id = ${partnerId} and lease is not null and leased_until > ${now}
    ) leased`.execute(trx)
  const [load] = rows
  if (load === undefined) throw new Error('a count has no row')
  return load
}
