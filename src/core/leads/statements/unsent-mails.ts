import { sql as raw } from 'kysely'
import type { Sql } from '../../database/sql.ts'

/** Workflows try for seven days. */
const LOOKED_AT_DAYS = 8

interface Unsent {
  partner_id: number
  leads: number
  since: Date
  example: number
}

/** Onboarding emails that should have been sent an hour ago, by partner; `most` claims of each are looked at, the newest. */
export async function unsentOnboardingMails(sql: Sql, most: number): Promise<Unsent[]> {
  const { rows } = await raw<Unsent>`
    select partners.id as partner_id, count(*)::int as leads, min(mail.claimed_at) as since, min(leads.id) as example
    from partners cross join lateral (
      select lead_id, claimed_at from onboarding_mails
      where partner_id = partners.id and refused is null
        and claimed_at < clock_timestamp() - interval '1 hour'
        and claimed_at > clock_timestamp() - ${LOOKED_AT_DAYS} * interval '1 day'
      order by claimed_at desc limit ${most}
    ) as mail join leads on leads.id = mail.lead_id
    where onboarding_sent_at is null and closed_at is null and erased_at is null
    group by partners.id order by count(*) desc, partners.id`.execute(sql)
  return rows
}
