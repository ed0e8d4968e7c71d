import { sql as raw } from 'kysely'
import type { Sql } from '../../../tables.ts'
import { codeOf } from '../error-codes.ts'

/** The jobs that one process at a time does. Each is a row of `leases`, which a migration makes. */
export const leases = [
  /** Starts what was left out. */
  'sweep',
  /** Compares Temporal with the record. */
  'comparison',
  /** Removes what is old. */
  'retention',
] as const
export type LeaseName = (typeof leases)[number]

/** How long a process that vanished or froze keeps a lease, in milliseconds. */
export const LEASE_MS = 10_000

export interface Lease {
  name: LeaseName
  token: number
}

/** Another process may do the same by now. */
export class LeaseLost extends Error {
  constructor(name: LeaseName) {
    super(`the lease "${name}" ran out before the work was done: another process goes on with it`)
  }
}

/** Two processes wanted it at the same time, and the login's default is to keep a snapshot. */
const SERIALIZATION_FAILURE = '40001'

const inMs = (ms: number) => raw<Date>`clock_timestamp() + ${raw.lit(ms)} * interval '1 millisecond'`
const end = inMs(LEASE_MS)
/** Of a lease from before PostgreSQL's clock was put back; a clock that is corrected by a little takes none away. */
const impossibleEnd = inMs(2 * LEASE_MS)

/**
 * Takes a lease if it is free or has run out. Never waits.
 *
 * @returns `undefined` if another process has it.
 */
export async function takeLease(sql: Sql, name: LeaseName): Promise<Lease | undefined> {
  const free = sql
    .selectFrom('leases')
    .select('name')
    .where('name', '=', name)
    .where(raw<boolean>`(until is null or until <= clock_timestamp() or until > ${impossibleEnd})`)
    .forUpdate()
    .skipLocked()
  const taken = await sql
    .updateTable('leases')
    .set((eb) => ({ token: eb('token', '+', 1), until: end }))
    .where('name', 'in', free)
    .returning('token')
    .executeTakeFirst()
    .catch((error: unknown) => {
      if (codeOf(error) !== SERIALIZATION_FAILURE) throw error
      return undefined
    })
  return taken && { name, token: taken.token }
}

/** Keeps a lease for as long again, unless it was released or lost. */
export async function renewLease(sql: Sql, lease: Lease): Promise<void> {
  await rowOf(sql, lease).set({ until: end }).where('until', 'is not', null).execute()
}

/** @returns whether it still was this one. */
export async function releaseLease(sql: Sql, lease: Lease): Promise<boolean> {
  const { numUpdatedRows } = await rowOf(sql, lease).set({ until: null }).executeTakeFirst()
  return numUpdatedRows > 0n
}

/**
 * Within a transaction, nobody else takes the lease before it has ended; so what it writes is refused after a takeover.
 *
 * @throws {LeaseLost} if somebody has taken it.
 */
export async function requireLease(sql: Sql, { name, token }: Lease): Promise<void> {
  const row = await sql
    .selectFrom('leases')
    .select('name')
    .where('name', '=', name)
    .where('token', '=', token)
    // conflicts with taking a lease, and not with renewing it
    .forKeyShare()
    .executeTakeFirst()
  if (row === undefined) throw new LeaseLost(name)
}

const rowOf = (sql: Sql, { name, token }: Lease) =>
  sql.updateTable('leases').where('name', '=', name).where('token', '=', token)
