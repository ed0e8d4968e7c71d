import { sql as raw } from 'kysely'
import { makingMonths } from './months-of-reads.ts'
import type { ReadKind } from '../tables/personal-read.ts'
import type { Sql } from '../../database/orm.ts'

/** A key got a borrower's personal data. */
export interface KeyRead {
  leadId: number
  /** Whose lead it is. */
  partnerId: number
  keyId: number
  what: ReadKind
}

/** How long ago, in milliseconds: the moment is PostgreSQL's, whatever the clock of the process says. */
export type AgedRead = KeyRead & { ageMs: number }

/** Writes reads of keys, in one statement however many they are. */
export async function insertKeyReads(sql: Sql, reads: readonly AgedRead[]): Promise<void> {
  // as array literals: the driver would quote each element of an array
  const column = (valueOf: (read: AgedRead) => number | ReadKind) => `{${reads.map(valueOf).join(',')}}`
  const insert = raw`
    insert into personal_reads (at, lead_id, partner_id, key_id, what)
    select statement_timestamp() - age_ms * interval '1 millisecond', lead_id, partner_id, key_id, what
    from unnest(
      ${column((read) => Math.round(read.ageMs))}::int[], ${column((read) => read.leadId)}::int[],
      ${column((read) => read.partnerId)}::int[], ${column((read) => read.keyId)}::int[],
      ${column((read) => read.what)}::text[]
    ) as read (age_ms, lead_id, partner_id, key_id, what)`
  await makingMonths(sql, () => insert.execute(sql))
}

/** A read of a borrower's personal data by staff. */
export interface StaffRead {
  leadId: number
  /** What they call themselves. */
  staff: string
  osUser: string
  what: ReadKind
}

/** PostgreSQL adds their login, the time, and whose lead it is. */
export async function insertStaffRead(sql: Sql, { leadId, staff, osUser, what }: StaffRead): Promise<void> {
  const { rows } = await raw<{ id: number | null }>`
    select write_staff_read(${leadId}, ${staff}, ${osUser}, ${what}) as id`.execute(sql)
  if (typeof rows[0]?.id !== 'number')
    throw new Error(`a read of lead ${leadId} cannot be written down: there is no such lead`)
}
