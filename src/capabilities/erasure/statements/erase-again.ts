import { sql as raw } from 'kysely'
import type { Sql } from '../../../core/database/sql.ts'
import { eraseLeads, type Erasing } from './erase.ts'
import type { ErasedLead } from './erasure-log.ts'

/** Leads that are looked up, and erased, at a time. */
const PAGE = 100

interface ErasedAgain {
  /** Lines of this deployment. */
  lines: number
  /** Leads that the record still had, and that are erased now. */
  erased: number[]
  /** Leads that the record says are held: they are not. */
  held: number[]
}

/**
 * Erases again what a restored record still has of the leads of an erasure log. A lead is meant where its deployment, its id
 * and its first event are the same: another one may have been given its id.
 */
export async function eraseAgain(
  sql: Sql,
  lines: readonly ErasedLead[],
  by: Erasing['by'],
): Promise<ErasedAgain> {
  const own = await sql.selectFrom('deployment').select('id').executeTakeFirstOrThrow()
  const ofOwn = lines.filter(({ deployment }) => deployment === own.id)
  const again: ErasedAgain = { lines: ofOwn.length, erased: [], held: [] }
  for (let start = 0; start < ofOwn.length; start += PAGE) {
    const leads = await leadsOf(sql, ofOwn.slice(start, start + PAGE))
    again.held.push(...leads.flatMap(({ id, isHeld }) => (isHeld ? id : [])))
    const ids = leads.flatMap(({ id, isHeld }) => (isHeld ? [] : id))
    again.erased.push(...(await eraseLeads(sql, ids, { by, reason: 'restored' })))
  }
  return again
}

/** The leads of the lines that the record has and that are not erased. */
async function leadsOf(sql: Sql, lines: readonly ErasedLead[]) {
  return sql
    .selectFrom('leads')
    .innerJoin('lead_events', 'lead_events.lead_id', 'leads.id')
    .select(['leads.id', raw<boolean>`held_at is not null`.as('isHeld')])
    .distinct()
    .where('erased_at', 'is', null)
    .where('lead_events.position', '=', 1)
    .where(
      raw<boolean>`(leads.id, lead_events.id) in (select * from unnest(
        ${lines.map((line) => line.lead_id)}::int[], ${lines.map((line) => line.event_id)}::text[]))`,
    )
    .execute()
}
