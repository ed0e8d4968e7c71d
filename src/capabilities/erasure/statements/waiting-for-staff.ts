import { sql as raw } from 'kysely'
import type { Sql } from '../../../core/database/orm.ts'
import { overdueAt } from './overdue.ts'

/** Mail servers are away for minutes; after that, a person has to look. */
const untoldAt = raw<Date>`case when is_announced and told_at is null and erasures.erased_at is null
  then requested_at + interval '1 hour' end`

interface WaitingErasure {
  lead_id: number
  partner_id: number
  since: Date
  /** Nobody could be told by email. */
  is_untold: boolean
  has_contact: boolean
  is_erased: boolean
  total: number
}

/** Erasures that are overdue, or that nobody could be told of, the longest first. Reads the index of those that are open. */
export async function erasuresForStaff(sql: Sql, limit: number): Promise<WaitingErasure[]> {
  const { rows } = await raw<WaitingErasure>`
    select *, count(*) over ()::int as total from (
      select lead_id, leads.partner_id, least(${overdueAt}, ${untoldAt}) as since,
        is_announced and told_at is null and erasures.erased_at is null as is_untold,
        contact_email is not null as has_contact, erasures.erased_at is not null as is_erased
      from erasures join leads on leads.id = erasures.lead_id join partners on partners.id = leads.partner_id
      where canceled_at is null and checked_at is null and held_at is null
    ) as waiting where since < clock_timestamp() order by since, lead_id limit ${limit}`.execute(sql)
  return rows
}
