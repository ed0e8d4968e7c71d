import { sql as raw } from 'kysely'
import type { Sql } from '../../database/sql.ts'
import { isValidKey } from './keys.ts'

interface EndingKey {
  partner_id: number
  partner_name: string
  key_id: number
  expires_at: Date
  /** Whether no key of the partner works for longer. */
  is_last: boolean
  /** Since when a person should look. */
  since: Date
}

/**
 * Keys that end within `days` while their partner needs them: it has no other that works for longer, or none of those was
 * used since this one. In the first half of the time for changing over, which begins with the other key, the old one may
 * still be in use. The first to end comes first.
 */
export async function endingKeys(sql: Sql, days: number): Promise<EndingKey[]> {
  const { rows } = await raw<EndingKey>`
    with valid as (
      select id, partner_id, created_at, last_used_at, expires_at,
        coalesce(expires_at <= now() + ${days} * interval '1 day', false) as is_ending
      from api_keys where ${isValidKey}
    )
    select ending.partner_id, partners.name as partner_name, ending.id as key_id, ending.expires_at,
      other.issued_at is null as is_last, soon.since
    from valid ending join partners on partners.id = ending.partner_id
    cross join lateral (
      select min(created_at) as issued_at from valid where partner_id = ending.partner_id and not is_ending
    ) as other
    cross join lateral (
      select greatest(
        ending.expires_at - ${days} * interval '1 day', ending.created_at,
        other.issued_at + (ending.expires_at - other.issued_at) / 2
      ) as since
    ) as soon
    where is_ending and soon.since <= now() and not exists (
      select from valid where partner_id = ending.partner_id and not is_ending
        and coalesce(last_used_at, '-infinity') >= coalesce(ending.last_used_at, '-infinity')
    )
    order by ending.expires_at, ending.id`.execute(sql)
  return rows
}
