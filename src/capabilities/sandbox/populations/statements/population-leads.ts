import { sql as raw } from 'kysely'
import type { Sql } from '../../../../core/database/orm.ts'
import type { WithLead } from '../../../../core/leads/statements/new-lead.ts'
import { drawGains, type JourneyKind } from '../decisions/journeys.ts'
import type { LeadEnd } from '../decisions/population.ts'

/** Which lead of a population it is. */
export interface Member {
  populationId: number
  number: number
  kind: JourneyKind
}

/** Writes down with a new lead that it is of a population. */
export const asMember =
  ({ populationId, number, kind }: Member): WithLead =>
  (ids) => raw`, member as (
      insert into population_leads (lead_id, population_id, number, kind)
      select its.lead_id, ${populationId}::int, ${number}::int, ${kind}::text
      from key, (select ${ids}) as its (lead_id, partner_id)
    )`

/**
 * Leads whose journeys were begun and are not over, and the numbers that are not begun: also one below others, whose insert
 * was lost while theirs were committed.
 */
export async function unplayedLeads(sql: Sql, { id, size }: { id: number; size: number }) {
  const open = await sql
    .selectFrom('population_leads')
    .innerJoin('leads', 'leads.id', 'population_leads.lead_id')
    .select(['lead_id as leadId', 'number', 'kind', 'step', 'leads.created_at as createdAt'])
    .where('population_id', '=', id)
    .where('outcome', 'is', null)
    .orderBy('number')
    .execute()
  const { rows } = await raw<{ number: number }>`
    select generate_series(1, ${size}::int) as number
    except select number from population_leads where population_id = ${id} order by number`.execute(sql)
  return { open, unbegun: rows.map(({ number }) => number) }
}

/** Where a journey goes on later. */
export async function noteStep(sql: Sql, leadId: number, step: number): Promise<void> {
  await sql.updateTable('population_leads').set({ step }).where('lead_id', '=', leadId).execute()
}

export async function endJourney(sql: Sql, leadId: number, outcome: LeadEnd): Promise<void> {
  await sql.updateTable('population_leads').set({ outcome }).where('lead_id', '=', leadId).execute()
}

/**
 * The gains of a score update that a population's seed decides; `undefined` for any other lead. A seed that is forgotten with
 * its population is replaced by another one, because no score provider knows the borrower.
 */
export async function drawnGains(sql: Sql, { leadId, period }: { leadId: number; period: number }) {
  const member = await sql
    .selectFrom('population_leads')
    .leftJoin('populations', 'populations.id', 'population_leads.population_id')
    .select(['seed', 'number', 'kind'])
    .where('lead_id', '=', leadId)
    .executeTakeFirst()
  return member && drawGains(member.seed ?? leadId, member.number, member.kind, period)
}
