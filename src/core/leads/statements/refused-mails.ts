import { sql as raw } from 'kysely'
import type { Sql } from '../../database/sql.ts'
import type { MailRefusal } from '../tables/onboarding-mail.ts'

/** Onboarding emails of the last `days` that a limit refused, of a partner's newest leads, `most` at most. */
export async function refusedMails(
  sql: Sql,
  partnerId: number,
  { days, most }: { days: number; most: number },
): Promise<{ refused: MailRefusal; leads: number }[]> {
  const { rows } = await raw<{ refused: MailRefusal; leads: number }>`
    select refused, count(*)::int as leads
    from (
      select id from leads where partner_id = ${partnerId} order by partner_id desc, id desc limit ${most}
    ) as newest join onboarding_mails on lead_id = newest.id
    where refused is not null and claimed_at > now() - ${days} * interval '1 day'
    group by refused order by refused`.execute(sql)
  return rows
}
