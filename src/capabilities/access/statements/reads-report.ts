import { sql as raw, type RawBuilder } from 'kysely'
import type { ReadKind } from '../../../core/audit/tables/personal-read.ts'
import type { Sql } from '../../../core/database/orm.ts'

/** Reads by a key, of a lead, or of a partner's leads; those from `from` on, before `to`. */
export type ReadFilter = ({ keyId: number } | { leadId: number } | { partnerId: number }) & {
  from?: Date
  to?: Date
}

/** What one reader read of one lead. */
export interface ReadLead {
  lead_id: number
  partner_id: number
  /** `null` for staff. */
  key_id: number | null
  staff: string | null
  /** The login with which staff read. */
  database_user: string | null
  os_user: string | null
  what: ReadKind[]
  reads: number
  first_at: Date
  last_at: Date
}

export interface ReadTotals {
  partner_id: number
  leads: number
  reads: number
}

/** Rows that are fetched at a time. */
const PAGE = 1000

/** The keys of a partner by their index, its leads' readers of staff by theirs. */
function matching(filter: ReadFilter): RawBuilder<boolean> {
  const { from, to } = filter
  const whose = () => {
    if ('keyId' in filter) return raw`key_id = ${filter.keyId}`
    if ('leadId' in filter) return raw`lead_id = ${filter.leadId}`
    return raw`partner_id = ${filter.partnerId} and (
      staff is not null or key_id = any (select id from api_keys where partner_id = ${filter.partnerId}))`
  }
  return raw<boolean>`${whose()} and at >= ${from?.toISOString() ?? '-infinity'}::timestamptz
    and at < ${to?.toISOString() ?? 'infinity'}::timestamptz`
}

/**
 * Reports reads in one snapshot: first `totals`, by partner, then `leads` in pages, by lead and reader. It takes a
 * connection for as long as `report` reads.
 */
export async function reportReads(
  sql: Sql,
  filter: ReadFilter,
  report: (totals: ReadTotals[], leads: AsyncIterable<ReadLead[]>) => Promise<void>,
): Promise<void> {
  await sql
    .transaction()
    .setIsolationLevel('repeatable read')
    .setAccessMode('read only')
    .execute(async (trx) => {
      // reading the report page by page takes a while
      await raw`set local idle_in_transaction_session_timeout = 0`.execute(trx)
      const { rows: totals } = await raw<ReadTotals>`
        select partner_id, count(distinct lead_id)::int as leads, count(*)::int as reads
        from personal_reads where ${matching(filter)} group by partner_id order by partner_id`.execute(trx)
      await raw`declare leads_read no scroll cursor for
        select lead_id, partner_id, key_id, staff, database_user, os_user, array_agg(distinct what) as what, count(*)::int as reads,
          min(at) as first_at, max(at) as last_at
        from personal_reads where ${matching(filter)}
        group by lead_id, partner_id, key_id, staff, database_user, os_user
        order by lead_id, key_id, database_user, staff, os_user`.execute(trx)
      await report(totals, pagesOf(trx))
    })
}

async function* pagesOf(trx: Sql): AsyncIterable<ReadLead[]> {
  for (;;) {
    const { rows } = await raw<ReadLead>`fetch ${raw.lit(PAGE)} from leads_read`.execute(trx)
    if (rows.length > 0) yield rows
    if (rows.length < PAGE) return
  }
}
