import { sql as raw } from 'kysely'
import { inSnapshot, type Sql } from '../database/sql.ts'
import { findDeliveries, nextText } from '../deliveries/list-deliveries.ts'
import { fields, firstLine, table } from '../staff/answer.ts'
import type { StaffContext } from '../staff/context.ts'
import { Refusal } from '../staff/refusal.ts'
import { referralId } from '../temporal/names.ts'
import { formatTimestamp, LARGEST_ID } from '../values.ts'
import type { InHistory } from './event-payloads.ts'
import { findLeadRecord, type LeadRecord, leadsEnd, type OpenedLead, openLead } from './lead.ts'
import { optionalFieldNames, optionalFields } from './lead-fields.ts'
import type { MilestoneName } from './milestones.ts'
import { aheadText } from './score-dates.ts'
import { withReference } from './reasons.ts'
import { hashesOfEmail } from './sealed-lead.ts'

// What staff read of leads. Each look at a borrower leaves a row in the audit before anything is shown.

export const noSuchLead = (id: number) =>
  new Refusal(`There is no lead ${id}: use the lead_id that create-lead returned.`)

/** @throws {Refusal} if there is no such lead, or if it is erased and `evenErased` is not set. */
export async function requireLead(
  sql: Sql,
  id: number,
  { evenErased = false }: { evenErased?: boolean } = {},
): Promise<LeadRecord> {
  const lead = await findLeadRecord(sql, id)
  if (lead === undefined) throw noSuchLead(id)
  if (lead.erased_at !== null && !evenErased) throw wasErased(id, lead.erased_at)
  return lead
}

export const wasErased = (id: number, at: Date) =>
  new Refusal(`Lead ${id} was erased at ${formatTimestamp(at)} UTC: see "audit list --lead ${id}".`)

const LEAD = /^(?:lead-)?([1-9]\d{0,9})$/
/** Leads that a search lists. */
const MOST_FOUND = 20
/** Longer than anything that can be found. */
const TEXT_LENGTH = 500

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

const NOT_FOUND =
  'No lead was found by its id, its partner_lead_id, the whole id of an event or attempt, or its email address. Names and phone numbers cannot be searched: they are encrypted.'

interface FoundLead {
  lead_id: number
  partner_id: number
  partner_name: string
  partner_lead_id: string | null
  status: MilestoneName
  created_at: Date
  closed_at: Date | null
  erased_at: Date | null
}

/** One more than is shown. */
async function leadsNamed({ sql, openingKeys }: StaffContext, text: string, partnerId: number | undefined) {
  const id = Number(LEAD.exec(text)?.[1])
  const hashes = text.includes('@') ? hashesOfEmail(text, await openingKeys()) : []
  const ofPartner = partnerId === undefined ? raw`` : raw`and partners.id = ${partnerId}`
  // for each partner, because the index of their own ids begins with the partner
  const { rows } = await raw<FoundLead>`
    select leads.id as lead_id, partner_id, partners.name as partner_name, partner_lead_id, status, leads.created_at,
      ${leadsEnd} as closed_at, erased_at
    from leads join partners on partners.id = leads.partner_id
    where leads.id in (
      select id from leads where id = ${id <= LARGEST_ID ? id : null}
      union select lead_id from lead_events
        where id in (${text}, (select event_id from attempts where id = ${text}))
      union select id from leads where email_hash = any(${hashes}::text[])
      union select own.id from partners cross join lateral
        (select id from leads where partner_id = partners.id and partner_lead_id = ${text}) as own
    ) ${ofPartner}
    order by leads.id desc limit ${MOST_FOUND + 1}`.execute(sql)
  return rows
}

const MOST_DELIVERIES = 10_000

/** `lead show`: everything that PostgreSQL knows of a lead. What was ignored and why, its workflow says in the Web UI. */
export async function showLead(context: StaffContext, id: number) {
  const record = await requireLead(context.sql, id, { evenErased: true })
  const { borrower, ...lead } = openLead(record, await context.openingKeys())
  await context.recordLook({ action: 'lead.show', leadId: id, partnerId: lead.partner_id })
  const [events, deliveries, attempts] = await inSnapshot(context.sql, async (snapshot) => [
    await findEvents(snapshot, id),
    await findDeliveries(snapshot, { leadId: id, limit: MOST_DELIVERIES }),
    await findLeadAttempts(snapshot, id),
  ])
  const workflow = { workflow_id: referralId(id), url: urlOf(context, referralId(id)) }
  const json = {
    lead_id: id,
    ...borrower,
    ...lead,
    events,
    deliveries: deliveries.map((row) => ({
      ...row,
      attempts: attempts.filter((attempt) => attempt.event_id === row.event_id),
    })),
    workflow,
  }
  const metadata = Object.entries(lead.metadata)
  const sequences = new Map(deliveries.map((row) => [row.event_id, row.sequence]))
  const parts = [
    leadFields({ borrower, ...lead }),
    // apart: a partner may name a field as we name one of the lead's
    metadata.length > 0 && table(metadata, { metadata: ([name]) => name, value: ([, value]) => value }),
    table(events, {
      '#': 'position',
      event: 'event_name',
      at: 'created_at',
      id: 'event_id',
      payload: ({ event_payload: payload }) => payload && JSON.stringify(payload),
    }),
    table(deliveries, {
      webhook: 'sequence',
      event: 'event_name',
      state: 'state',
      failures: 'failures',
      'next attempt': nextText,
      settled: 'settled_at',
    }),
    attempts.length > 0 &&
      table(attempts, {
        webhook: (row) => sequences.get(row.event_id),
        attempt: 'number',
        trigger: 'trigger',
        at: 'started_at',
        ms: 'duration_ms',
        status: 'status',
        error: (row) => (row.finished_at === null ? 'under way' : row.error_code),
        hint: 'hint',
      }),
    fields({ workflow: workflow.workflow_id, 'Web UI': workflow.url }),
  ]
  return { json, text: parts.filter(Boolean).join('\n\n') }
}

async function findEvents(sql: Sql, leadId: number) {
  return sql
    .selectFrom('lead_events')
    .select(['position', 'id as event_id', 'event_name', 'event_payload', 'created_at'])
    .where('lead_id', '=', leadId)
    .where('position', 'is not', null)
    .$narrowType<InHistory>()
    .orderBy('position')
    .execute()
}

/** In the order in which they were made. */
async function findLeadAttempts(sql: Sql, leadId: number) {
  return sql
    .selectFrom('attempts')
    .innerJoin('deliveries', 'deliveries.event_id', 'attempts.event_id')
    .select(['attempts.event_id', 'number', 'trigger', 'started_at', 'finished_at', 'duration_ms'])
    .select(['url', 'address', 'status', 'error_code', 'hint'])
    .where('deliveries.lead_id', '=', leadId)
    .orderBy('deliveries.sequence')
    .orderBy('number')
    .execute()
}

function leadFields({ borrower, ...lead }: OpenedLead): string {
  return fields({
    lead: lead.id,
    partner: `${lead.partner_id}, ${lead.partner_name}`,
    status: lead.status,
    ...(lead.erased_at !== null && { erased: lead.erased_at }),
    ...(lead.hold_reason !== null && {
      'held since': lead.held_at,
      'held because': withReference(lead.hold_reason, lead.hold_reference),
    }),
    name: borrower && `${borrower.first_name} ${borrower.last_name}`,
    email: borrower?.email,
    phone: borrower?.phone,
    ...Object.fromEntries(optionalFieldNames.map((name) => [optionalFields[name], lead[name]])),
    created: lead.created_at,
    updated: lead.updated_at,
    'onboarding email':
      lead.onboarding_sent_at ?? (lead.onboarding_refused && `not sent: ${lead.onboarding_refused}`),
    'clock ahead': lead.clock_offset === 0 ? null : aheadText(lead.clock_offset * 1000),
    closed: lead.closed_at,
    'close reason': lead.close_reason,
  })
}

function urlOf({ config, temporal }: StaffContext, workflowId: string): string | null {
  const ui = config.TEMPORAL_UI_URL?.replace(/\/$/, '')
  return ui === undefined ? null : `${ui}/namespaces/${temporal.namespace}/workflows/${workflowId}`
}
