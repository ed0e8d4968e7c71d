import {
  type Lease,
  LEASE_MS,
  LeaseLost,
  type LeaseName,
  releaseLease,
  renewLease,
  requireLease,
  takeLease,
} from './leases.ts'
import type { Sql } from '../orm.ts'

/** Two in a row may get lost. */
const RENEW_MS = LEASE_MS / 4

/**
 * Rejects if another process does the same work by now. Called in a transaction, it keeps others from beginning before that
 * has ended: what it writes is refused, or comes before theirs.
 */
export type Fence = (sql: Sql) => Promise<void>

/**
 * Runs `work` unless another process has the lease. No connection is kept meanwhile. The lease is renewed until `work` ends,
 * and then released; of a process that is killed or frozen, it runs out within ten seconds. One that is thawed later works
 * beside its successor until its `work` ends or meets the fence.
 *
 * @returns the result of `work`; 0 if another process is running it.
 * @throws {LeaseLost} if the lease was lost before `work` had ended.
 */
export async function alone(
  sql: Sql,
  name: LeaseName,
  work: (fence: Fence) => Promise<number>,
): Promise<number> {
  const lease = await takeLease(sql, name)
  if (lease === undefined) return 0
  const result = await whileRenewed(sql, lease, () => work((own) => requireLease(own, lease))).catch(
    async (error: unknown) => {
      await releaseLease(sql, lease).catch(() => {})
      throw error
    },
  )
  if (!(await releaseLease(sql, lease))) throw new LeaseLost(name)
  return result
}

async function whileRenewed(sql: Sql, lease: Lease, work: () => Promise<number>): Promise<number> {
  // one that fails is repeated in time; whether one came too late is told by the release
  const renewing = setInterval(() => void renewLease(sql, lease).catch(() => {}), RENEW_MS)
  try {
    return await work()
  } finally {
    clearInterval(renewing)
  }
}
