import type { Command } from 'commander'
import { sql as raw } from 'kysely'
import type { AuditedAction } from '../audit.ts'
import type { Sql } from '../database/sql.ts'
import { countedOf, isFirstOpen } from '../deliveries/delivery.ts'
import { fields, firstLine, table } from '../staff/answer.ts'
import { partnerArgument } from '../staff/arguments.ts'
import type { Run, StaffContext } from '../staff/context.ts'
import { Refusal } from '../staff/refusal.ts'
import { formatTimestamp, LARGEST_ID } from '../values.ts'
import { describeReferral, describeStatus } from './describe-referral.ts'
import { hashesOfEmail } from './sealed-lead.ts'
import { type LeadFacts, waitsFor } from './waits-for.ts'

// Each answers ids of leads, the newest first, `limit` at most, of one partner if it is named.

export interface Within {
  partnerId?: number | undefined
  limit: number
}

const ofPartner = ({ partnerId }: Within) =>
  partnerId === undefined ? raw`` : raw`and partner_id = ${partnerId}`

async function idsOf(found: ReturnType<typeof raw<{ id: number }>>, sql: Sql): Promise<number[]> {
  const { rows } = await found.execute(sql)
  return rows.map(({ id }) => id)
}

async function leadById(sql: Sql, id: number, within: Within): Promise<number[]> {
  if (id > LARGEST_ID) return []
  return idsOf(raw<{ id: number }>`select id from leads where id = ${id} ${ofPartner(within)}`, sql)
}

/** One partner after the other, each by its index: there are few partners, and no index of all of them. */
async function leadsByPartnerLeadId(sql: Sql, text: string, within: Within): Promise<number[]> {
  const { partnerId, limit } = within
  const only = partnerId === undefined ? raw`` : raw`where partners.id = ${partnerId}`
  return idsOf(
    raw<{ id: number }>`
      select own.id from partners cross join lateral (
        select id from leads where partner_id = partners.id and partner_lead_id = ${text} order by id desc limit ${limit}
      ) as own ${only} order by own.id desc limit ${limit}`,
    sql,
  )
}

/** @param encryptionKeys under whose hashes it is looked for. */
async function leadsByEmail(
  { sql, encryptionKeys }: { sql: Sql; encryptionKeys: readonly Buffer[] },
  email: string,
  within: Within,
): Promise<number[]> {
  return idsOf(
    raw<{ id: number }>`
      select id from leads where email_hash = any(${hashesOfEmail(email, encryptionKeys)}) ${ofPartner(within)}
      order by id desc limit ${within.limit}`,
    sql,
  )
}

/** @param id an event's, which is its webhook's, or an attempt's. */
async function leadByWebhook(sql: Sql, id: string, within: Within): Promise<number[]> {
  const eventId = id.startsWith('att_') ? raw`(select event_id from attempts where id = ${id})` : raw`${id}`
  return idsOf(
    raw<{ id: number }>`select lead_id as id from lead_events where id = ${eventId} ${ofPartner(within)}`,
    sql,
  )
}

/** A way to find leads by what a partner or a log names. */
interface Finder {
  /** What it takes TEXT for. */
  kind: string
  /** Where it looks, for somebody who found nothing. */
  where: string
  /** Whether TEXT can be that. */
  recognizes: (text: string) => boolean
  /** Ids of leads, the newest first. */
  find: (context: StaffContext, text: string, within: Within) => Promise<number[]>
}

const LEAD = /^(?:lead-)?([1-9]\d{0,9})$/
const WEBHOOK = /^(?:evt|att)_[0-9a-f-]{36}$/
const EMAIL = /^[^\s@]+@[^\s@]+$/

/** Any text may be a partner's own id. */
const allFinders: readonly Finder[] = [
  {
    kind: 'lead id',
    where: 'lead ids',
    recognizes: (text) => LEAD.test(text),
    find: ({ sql }, text, within) => leadById(sql, Number(LEAD.exec(text)?.[1]), within),
  },
  {
    kind: 'webhook',
    where: 'ids of events, which are the webhook-ids, and of attempts',
    recognizes: (text) => WEBHOOK.test(text),
    find: ({ sql }, text, within) => leadByWebhook(sql, text, within),
  },
  {
    kind: 'email',
    where: 'email addresses of leads that are not erased',
    recognizes: (text) => EMAIL.test(text),
    find: async (context, text, within) =>
      leadsByEmail({ sql: context.sql, encryptionKeys: await context.openingKeys() }, text, within),
  },
  {
    kind: 'partner_lead_id',
    where: 'partner_lead_id of all partners, in the same upper and lower case',
    recognizes: () => true,
    find: ({ sql }, text, within) => leadsByPartnerLeadId(sql, text, within),
  },
]

/** A lead without who it is: what staff need to see what it waits for. */
export interface LeadSummary extends LeadFacts {
  partner_name: string
  partner_lead_id: string | null
  created_at: Date
}

/** The newest first. */
async function leadSummaries(sql: Sql, leadIds: readonly number[]): Promise<LeadSummary[]> {
  if (leadIds.length === 0) return []
  const { rows } = await raw<LeadSummary>`
    select l.id as lead_id, l.partner_id, partners.name as partner_name, l.partner_lead_id, l.status, l.created_at,
      l.erased_at, l.closed_at, l.close_reason, l.workflow_started_at,
      e.state = 'paused' as is_paused, e.url is null as has_no_url,
      first.event_id, first.event_name, first.failures, last.status as last_status,
      last.error_code as last_error_code, given_up.event_id as given_up_event_id
    from leads l
    join partners on partners.id = l.partner_id
    join endpoints e on e.partner_id = l.partner_id
    left join lateral (
      select d.event_id, lead_events.event_name, ${countedOf('d', 'e').failures} as failures
      from deliveries d join lead_events on lead_events.id = d.event_id
      where d.lead_id = l.id and d.state = 'pending' and ${isFirstOpen} limit 1
    ) first on true
    left join lateral (
      select status, error_code from attempts
      where event_id = first.event_id and finished_at is not null order by number desc limit 1
    ) last on true
    left join lateral (
      select event_id from deliveries where lead_id = l.id and state = 'given_up' order by sequence limit 1
    ) given_up on true
    where l.id = any(${leadIds}) order by l.id desc`.execute(sql)
  return rows
}

const ONE_ID = /^(?:evt|att)_[0-9a-f-]{36}$/
const PART_OF_ID = /^(?:evt|att)_/i
const LEAST_OF_PHONE = 7
const PHONE = /^\+?[\d\s()./-]+$/
const NAME = /^\p{L}[\p{L}\p{M}\s'’.-]*$/u

/** What to say of a text by which no lead was found, if it looks like something by which none can be. */
export function searchHint(text: string): string | undefined {
  if (!ONE_ID.test(text) && PART_OF_ID.test(text))
    return 'This looks like part of an id: an event’s is evt_ and 36 characters. Ask for all of it.'
  const digits = text.replaceAll(/\D/g, '').length
  if ((PHONE.test(text) && digits >= LEAST_OF_PHONE) || NAME.test(text))
    return 'Names and phone numbers cannot be searched: they are encrypted. Ask for the email address, or for the partner_lead_id.'
  return undefined
}

/** Of each kind of search. */
const PAGE = 20
/** Longer than anything that can be found. */
const TEXT_LENGTH = 500

const help = `
TEXT is a lead’s id, a partner_lead_id, an evt_… (which is the webhook-id), an att_… or an email address.
A - reads it from the first line of the standard input, so that an address is not kept by the shell.

Examples:
  npm run staff -- find LOAN-2026-131
  npm run staff -- find - < address.txt`

export function addFindCommand(program: Command, run: Run): void {
  program
    .command('find')
    .description(
      'the leads that a text names, and what each waits for; the audit has who was found, never the text',
    )
    .argument('<text>', 'what names the lead')
    .option('--partner <partner>', 'only this partner’s', partnerArgument)
    .addHelpText('after', help)
    .action(run(find))
}

interface Options {
  partner?: number
}

export async function find(context: StaffContext, given: string, { partner }: Options = {}) {
  const text = (given === '-' ? await firstLine(process.stdin) : given).trim()
  if (text === '' || text.length > TEXT_LENGTH || /\p{Cc}/u.test(text))
    throw new Refusal(`Give 1 to ${TEXT_LENGTH} characters on one line: an id, or an email address.`)
  const finders = allFinders.filter(({ recognizes }) => recognizes(text))
  const foundBy = new Map<number, string[]>()
  let isMore = false
  for (const { kind, find: look } of finders) {
    const ids = await look(context, text, { partnerId: partner, limit: PAGE + 1 })
    isMore ||= ids.length > PAGE
    for (const id of ids.slice(0, PAGE)) foundBy.set(id, [...(foundBy.get(id) ?? []), kind])
  }
  const leads = await leadSummaries(context.sql, [...foundBy.keys()])
  await context.recordLook(lookOf(leads, foundBy, partner))
  const found = leads.map((lead) => ({
    lead,
    by: foundBy.get(lead.lead_id) ?? [],
    ...waitsFor(lead),
  }))
  const where = finders.map((finder) => finder.where)
  const [only] = leads
  const workflow = only && leads.length === 1 ? await aboutWorkflow(context, only) : undefined
  const hint = leads.length === 0 ? searchHint(text) : undefined
  const remarks = [workflow, hint].filter((remark) => remark !== undefined)
  return {
    json: {
      leads: found.map(({ lead, by, waitsFor: waiting, since, next }) => ({
        lead_id: lead.lead_id,
        partner_id: lead.partner_id,
        partner_name: lead.partner_name,
        partner_lead_id: lead.partner_lead_id,
        status: lead.status,
        created_at: lead.created_at,
        closed_at: lead.closed_at,
        erased_at: lead.erased_at,
        found_by: by,
        waits_for: waiting,
        since,
        next_command: next,
      })),
      is_more: isMore,
      looked_at: where,
      remarks,
    },
    text: [textOf(found, where), ...(isMore ? [MORE] : []), ...remarks].join('\n\n'),
    failed: found.length === 0,
  }
}

/** What the audit has of a search: whom it found, and by what kind of text. The text itself may be an address. */
function lookOf(
  leads: readonly LeadSummary[],
  foundBy: ReadonlyMap<number, string[]>,
  within: number | undefined,
): AuditedAction {
  const [only] = leads.length === 1 ? leads : []
  const whose = only?.partner_id ?? within
  return {
    action: 'lead.find',
    ...(whose !== undefined && { partnerId: whose }),
    ...(only && { leadId: only.lead_id }),
    detail: {
      lead_ids: leads.map(({ lead_id: id }) => id),
      found_by: [...new Set([...foundBy.values()].flat())],
    },
  }
}

const isUnstarted = ({ workflow_started_at: at, closed_at: closed, erased_at: erased }: LeadSummary) =>
  at === null && closed === null && erased === null

/** What becomes of the open lead whose workflow does not run, as far as Temporal says. */
async function aboutWorkflow({ client }: StaffContext, lead: LeadSummary): Promise<string | undefined> {
  if (lead.closed_at !== null || lead.erased_at !== null || isUnstarted(lead)) return undefined
  // another deployment's workflow says nothing
  const described = await describeReferral(client, lead.lead_id, { withNotes: false }).catch(() => undefined)
  const what = described && describeStatus(described)
  return what && `Its workflow is ${described.status}: ${what}.`
}

type Found = { lead: LeadSummary; by: string[] } & ReturnType<typeof waitsFor>

const MORE = `Only the newest ${PAGE} are listed. To narrow it down: --partner.`

const commandOf = (next: string) => `npm run staff -- ${next}`

function textOf(found: Found[], where: string[]): string {
  const [first] = found
  if (first === undefined) return `No lead was found. Looked at: ${where.join('; ')}.`
  if (found.length === 1) return oneText(first)
  return table(found, {
    lead: ({ lead }) => lead.lead_id,
    partner: ({ lead }) => `${lead.partner_id}, ${lead.partner_name}`,
    'partner’s lead id': ({ lead }) => lead.partner_lead_id,
    created: ({ lead }) => lead.created_at,
    status: ({ lead }) => lead.status,
    'found by': ({ by }) => by.join(', '),
    'waits for': waitText,
    next: ({ next }) => next,
  })
}

function oneText(found: Found): string {
  const { lead, by, next } = found
  return fields({
    lead: lead.lead_id,
    'found by': by.join(', '),
    partner: `${lead.partner_id}, ${lead.partner_name}`,
    'partner’s lead id': lead.partner_lead_id,
    created: lead.created_at,
    status: lead.status,
    'waits for': waitText(found),
    next: commandOf(next),
  })
}

const waitText = ({ waitsFor: what, since }: Found) =>
  since === null ? what : `${what} at ${formatTimestamp(since)} UTC`
