import { sql as raw } from 'kysely'
import type { Sql } from '../database/sql.ts'
import { firstLine, table } from '../staff/answer.ts'
import type { StaffContext } from '../staff/context.ts'
import { Refusal } from '../fail.ts'
import { formatTimestamp, LARGEST_ID } from '../values.ts'
import { findLeadRecord, hashesOfEmail, type LeadRecord, leadClosedAt } from './lead.ts'

// How staff find leads. Each look at a borrower leaves a row in the audit before anything is shown.

export const noSuchLead = (id: number) =>
  new Refusal(`There is no lead ${id}: use the lead_id that create-lead returned.`)

/** @throws {Refusal} if there is no such lead, or if it is erased. */
export async function requireLead(sql: Sql, id: number): Promise<LeadRecord> {
  const lead = await findLeadRecord(sql, id)
  if (lead === undefined) throw noSuchLead(id)
  if (lead.erased_at === null) return lead
  const at = formatTimestamp(lead.erased_at)
  throw new Refusal(`Lead ${id} was erased at ${at} UTC: see "audit list --lead ${id}".`)
}

const LEAD = /^(?:lead-)?([1-9]\d{0,9})$/
/** Leads that a search lists. */
const MOST_FOUND = 20
/** Longer than anything that can be found. */
const TEXT_LENGTH = 500

const NOT_FOUND =
  'No lead was found by its id, its partner_lead_id, the whole id of an event or attempt, or its email address. Names and phone numbers cannot be searched: they are encrypted.'

/**
 * `lead find`: the leads that a text names, the newest first.
 *
 * @param given a lead's id, a partner_lead_id, the id of an event or attempt, or an email address; `-` reads it from
 *   stdin, so that the shell keeps no address.
 */
export async function find(context: StaffContext, given: string, { partner }: { partner?: number } = {}) {
  const text = (given === '-' ? await firstLine(process.stdin) : given).trim()
  if (text === '' || text.length > TEXT_LENGTH || /\p{Cc}/u.test(text))
    throw new Refusal(`Give 1 to ${TEXT_LENGTH} characters on one line: an id, or an email address.`)
  const found = await leadsNamed(context, text, partner)
  const leads = found.slice(0, MOST_FOUND)
  const isMore = found.length > MOST_FOUND
  const [only] = leads.length === 1 ? leads : []
  const whose = only?.partner_id ?? partner
  // never the text, which may be an address
  await context.recordLook({
    action: 'lead.find',
    ...(whose !== undefined && { partnerId: whose }),
    ...(only && { leadId: only.lead_id }),
    detail: { lead_ids: leads.map(({ lead_id: id }) => id) },
  })
  const listed = table(leads, {
    lead: 'lead_id',
    partner: (lead) => `${lead.partner_id}, ${lead.partner_name}`,
    'partner’s lead id': 'partner_lead_id',
    created: 'created_at',
    status: 'status',
    closed: 'closed_at',
    erased: 'erased_at',
  })
  const more = `\n\nOnly the newest ${MOST_FOUND} are listed. To narrow it down: --partner.`
  return {
    json: { leads, is_more: isMore },
    text: leads.length === 0 ? NOT_FOUND : listed + (isMore ? more : ''),
    failed: leads.length === 0,
  }
}

/** Finds one more lead than is shown. */
async function leadsNamed({ sql, openingKeys }: StaffContext, text: string, partnerId: number | undefined) {
  const id = Number(LEAD.exec(text)?.[1])
  const hashes = text.includes('@') ? hashesOfEmail(text, await openingKeys()) : []
  // partner by partner, because the index on partner_lead_id begins with the partner
  const named = raw<number>`(
    select id from leads where id = ${id <= LARGEST_ID ? id : null}
    union select lead_id from lead_events
      where id in (${text}, (select event_id from attempts where id = ${text}))
    union select id from leads where email_hash = any(${hashes}::text[])
    union select own.id from partners cross join lateral
      (select id from leads where partner_id = partners.id and partner_lead_id = ${text}) as own
  )`
  return sql
    .selectFrom('leads')
    .innerJoin('partners', 'partners.id', 'leads.partner_id')
    .select(['leads.id as lead_id', 'partner_id', 'partners.name as partner_name', 'partner_lead_id'])
    .select(['status', 'leads.created_at', leadClosedAt.as('closed_at'), 'erased_at'])
    .where('leads.id', 'in', named)
    .$if(partnerId !== undefined, (query) => query.where('partner_id', '=', partnerId ?? 0))
    .orderBy('leads.id', 'desc')
    .limit(MOST_FOUND + 1)
    .execute()
}
