import { sql as raw } from 'kysely'
import type { Sql } from '../../database/sql.ts'

interface Faulty {
  partner_id: number
  partner_name: string
  fault: string
  /** When the first of them was due. */
  since: Date
  webhooks: number
  leads: number
}

/** Open webhooks whose attempt could not begin, by partner and fault. */
export async function faultsByPartner(sql: Sql): Promise<Faulty[]> {
  const { rows } = await raw<Faulty>`
    select partners.id as partner_id, partners.name as partner_name, fault, min(next_attempt_at) as since,
      count(*)::int as webhooks, count(distinct lead_id)::int as leads
    from deliveries join partners on partners.id = partner_id
    where deliveries.state = 'pending' and fault is not null
    group by partners.id, fault order by count(*) desc, partners.id`.execute(sql)
  return rows
}
