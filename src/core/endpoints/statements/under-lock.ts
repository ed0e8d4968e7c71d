import { sql as raw } from 'kysely'
import { ENDPOINT_CAP } from '../../deliveries/decisions/delivery.ts'
import type { Sql } from '../../database/orm.ts'
import { isLiveSecret, type StoredSecret } from './secrets.ts'

interface UnderLock {
  inFlight: number
  oldestLeaseEndsAt: Date | null
  due: number
  /** The live ones, newest first. */
  secrets: StoredSecret[]
  now: Date
}

/**
 * What the endpoint's lock keeps still: the live secrets, the requests in flight to it (unexpired leases), and how many
 * deliveries are due if it is at its cap, its circuit breaker is open, or it is paced. A statement of its own, after the
 * endpoint was locked: the one that waits for the lock sees the endpoint as it is afterwards, and all other rows as they
 * were before.
 */
export async function readUnderLock(
  trx: Sql,
  { id, partnerId }: { id: number; partnerId: number },
): Promise<UnderLock> {
  const now = raw<Date>`clock_timestamp()`
  const { rows } = await raw<UnderLock>`
    select ${now} as now, leased."inFlight", leased."oldestLeaseEndsAt", case
      when leased."inFlight" >= ${ENDPOINT_CAP}
        or (select greatest(blocked_until, paced_until) > ${now} from endpoints where partner_id = ${partnerId}) then (
        select count(*)::int from deliveries
        where partner_id = ${partnerId} and state = 'pending' and next_attempt_at <= ${now}
      ) else 0 end as due,
      array(
        select array[id::text, ciphertext] from endpoint_secrets where endpoint_id = ${id} and ${isLiveSecret} order by id desc
      ) as secrets
    from (
      select count(*)::int as "inFlight", min(leased_until) as "oldestLeaseEndsAt" from deliveries
      where partner_id = ${partnerId} and lease is not null and leased_until > ${now}
    ) leased`.execute(trx)
  const [found] = rows
  if (found === undefined) throw new Error('a count has no row')
  return found
}
