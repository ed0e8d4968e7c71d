import { sql as raw } from 'kysely'
import type { MilestoneName } from '../decisions/milestones.ts'
import type { Sql } from '../../database/sql.ts'
import { leadsEnd } from './leads-now.ts'

/** Whether a lead's webhooks go out: `failing` while the first open one fails, `held` while the endpoint is paused. */
export const leadDeliveries = ['ok', 'failing', 'held'] as const
export type LeadDelivery = (typeof leadDeliveries)[number]

export interface LeadFilter {
  /** Leads with smaller ids only: those that are older. */
  before?: number
  status?: MilestoneName
  partnerLeadId?: string
  /** What `partner_lead_id` begins with. */
  prefix?: string
  delivery?: Exclude<LeadDelivery, 'ok'>
  isClosed?: boolean
  limit: number
}

/** A partner's leads, newest first, without personal data. */
export async function listLeads(sql: Sql, partnerId: number, filter: LeadFilter) {
  const { before, status, partnerLeadId, prefix, delivery, isClosed, limit } = filter
  return sql
    .selectFrom('leads')
    .innerJoin('endpoints', 'endpoints.partner_id', 'leads.partner_id')
    .select(['leads.id as lead_id', 'partner_lead_id', 'leads.status', 'leads.created_at', 'updated_at'])
    .select([raw<boolean>`closed_at is not null`.as('closed'), leadsEnd.as('closed_at')])
    .select(openWebhooks.as('open_deliveries'))
    .select(deliveryOf.as('delivery'))
    .where('leads.partner_id', '=', partnerId)
    .where('leads.erased_at', 'is', null)
    .$if(before !== undefined, (query) => query.where('leads.id', '<', before ?? 0))
    .$if(status !== undefined, (query) => query.where('leads.status', '=', status ?? 'lead_received'))
    .$if(partnerLeadId !== undefined, (query) => query.where('partner_lead_id', '=', partnerLeadId ?? ''))
    .$if(prefix !== undefined, (query) => query.where(beginsWith(prefix ?? '')))
    .$if(isClosed !== undefined, (query) =>
      query.where('closed_at', isClosed === true ? 'is not' : 'is', null),
    )
    .$if(delivery !== undefined, (query) =>
      query
        .where('leads.id', 'in', waiting(sql, partnerId, delivery === 'failing'))
        .where(raw<boolean>`(endpoints.state = 'paused') = ${delivery === 'held'}`),
    )
    .orderBy('leads.id', 'desc')
    .limit(limit)
    .execute()
}

/** After every other character: text that begins with a prefix comes before the prefix with this. */
const LAST_CHARACTER = '\u{10FFFF}'

/** As the index compares, byte by byte; `like` would find its bounds only where it knows the value when it plans. */
const beginsWith = (prefix: string) =>
  raw<boolean>`partner_lead_id ~>=~ ${prefix} and partner_lead_id ~<~ ${prefix + LAST_CHARACTER}`

const openWebhooks = raw<number>`(
  select count(*)::int from deliveries where deliveries.lead_id = leads.id and state = 'pending'
)`

const deliveryOf = raw<LeadDelivery>`(
  select case
    when count(*) = 0 then 'ok'
    when endpoints.state = 'paused' then 'held'
    when max(deliveries.round) = endpoints.round then 'failing'
    else 'ok'
  end
  from deliveries where deliveries.lead_id = leads.id and deliveries.state = 'pending'
)`

/** Leads with open webhooks: few, found by the partner's open deliveries instead of by all of its leads. */
function waiting(sql: Sql, partnerId: number, onlyFailing: boolean) {
  return sql
    .selectFrom('deliveries')
    .innerJoin('endpoints', 'endpoints.partner_id', 'deliveries.partner_id')
    .select('lead_id')
    .where('deliveries.partner_id', '=', partnerId)
    .where('deliveries.state', '=', 'pending')
    .$if(onlyFailing, (query) => query.whereRef('deliveries.round', '=', 'endpoints.round'))
}
