import type { Command } from 'commander'
import { formatTimestamp } from '../../values/timestamps.ts'
import { fields, table } from '../../../staff/answer.ts'
import { partnerId } from '../../../staff/arguments.ts'
import type { Run, StaffContext } from '../../../staff/context.ts'
import { firstLine } from '../../../staff/first-line.ts'
import { Refusal } from '../../../staff/refusal.ts'
import { standstill } from '../../temporal/commands/standstill.ts'
import type { AuditedAction } from '../../audit/statements/audit.ts'
import { searchHint } from '../decisions/search-hint.ts'
import { waitsFor } from '../decisions/waits-for.ts'
import { type LeadSummary, leadSummaries } from '../statements/lead-summaries.ts'
import { describeReferral, describeStatus } from '../workflows/describe-referral.ts'
import { finders as allFinders } from './finders.ts'

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
    .option('--partner <partner>', 'only this partner’s', partnerId)
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
  // nothing is started in an outage, whoever asks for it
  const outage = leads.some(isUnstarted) ? await standstill(context) : undefined
  const found = leads.map((lead) => ({
    lead,
    by: foundBy.get(lead.lead_id) ?? [],
    ...waitsFor(lead),
    ...(outage && isUnstarted(lead) && { next: 'inbox' }),
  }))
  const where = finders.map((finder) => finder.where)
  const [only] = leads
  const workflow = only && leads.length === 1 ? await aboutWorkflow(context, only) : undefined
  const hint = leads.length === 0 ? searchHint(text) : undefined
  const remarks = [outage?.what, workflow, hint].filter((remark) => remark !== undefined)
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
