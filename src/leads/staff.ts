import { WorkflowUpdateFailedError } from '@temporalio/client'
import { type Command, InvalidArgumentError, Option } from 'commander'
import type { z } from 'zod'
import { email, name, phone } from '../http/fields.ts'
import { table } from '../staff/answer.ts'
import { leadArgument, matching, oneOf, partnerArgument } from '../staff/arguments.ts'
import { MOST_COUNTED } from '../staff/attention.ts'
import type { Run, StaffContext } from '../staff/context.ts'
import { Refusal } from '../staff/refusal.ts'
import { formatTimestamp, IDEMPOTENCY_KEY } from '../values.ts'
import { leadsWithoutNews, NEWS_WITHIN_DAYS } from './attention.ts'
import { faultOfScoreGains, listOf, parseScoreGains, takesPayload, unknownGains } from './event-payloads.ts'
import { findLeadRecord, leadsChange } from './lead.ts'
import { eachField, requiredFields } from './lead-fields.ts'
import { find, noSuchLead, requireLead, showLead, wasErased } from './look-up.ts'
import { milestones, type SignalledMilestone, signalledMilestones } from './milestones.ts'
import { type CloseReason, closeReasons, REFERENCE } from './reasons.ts'
import { hashOfBorrower, openBorrower, sealBorrower } from './sealed-lead.ts'

export function addLeadCommands(program: Command, run: Run): void {
  const lead = program
    .command('lead')
    .description('referred borrowers')
    .addHelpText('after', '\nExample:\n  npm run staff -- lead close 1 --reason withdrew')
  const named = (verb: string) => lead.command(verb).argument('<lead>', 'its id', leadArgument)
  lead
    .command('find')
    .description('the leads that a text names; the audit has who was found, never the text')
    .argument('<text>', 'a lead’s id, partner_lead_id, evt_…, att_… or email address; - reads it from stdin')
    .option('--partner <partner>', 'only this partner’s', partnerArgument)
    .action(run(find))
  named('show')
    .description('fields, events, webhooks with their attempts, and where its workflow is')
    .action(run(showLead))
  lead
    .command('list')
    .description(
      `open leads without an event for ${NEWS_WITHIN_DAYS} days by their own clock, longest first; none that is mortgage ready`,
    )
    .action(run(listWithoutNews))
  addReason(named('close'), closeReasons)
    .description('the borrower dropped out: nothing more is recorded; open webhooks are still sent')
    .action(run(close))
  named('correct')
    .description('set a mistyped name, address or number; the audit has which fields, never their values')
    .option('--first-name <name>', 'the first name', valid(name))
    .option('--last-name <name>', 'the last name', valid(name))
    .option('--email <address>', 'the email address, which gets the next email', valid(email))
    .option('--phone <number>', 'the phone number', valid(phone))
    .action(run(correct))
}

async function listWithoutNews({ sql }: StaffContext) {
  const leads = await leadsWithoutNews(sql, MOST_COUNTED).execute()
  const listed = table(leads, {
    lead: 'lead_id',
    partner: 'partner_id',
    status: 'status',
    'last event': 'last_event_at',
  })
  return {
    json: { leads },
    text: leads.length === 0 ? 'Every open lead has had an event in the last year.' : listed,
  }
}

/** A parser of what create-lead takes by the same rule. */
function valid(rule: z.ZodType<string>) {
  return (text: string): string => {
    const { data, error } = rule.safeParse(text)
    if (data !== undefined) return data
    throw new InvalidArgumentError(`It ${error?.issues[0]?.message}.`)
  }
}

/** Options of a command that cannot be undone, or that staff may have to justify. */
export interface Given<Reason extends string> {
  reason: Reason
  /** A case number. */
  reference?: string | undefined
}

const RULE = '1 to 40 capital letters, digits and hyphens, such as CASE-26-118'
const referenceOf = matching(REFERENCE, `Use ${RULE}: a case number, no personal data.`)

/** Gives a command `--reason`, which is one of `reasons`, and `--reference`. Its help says what each reason means. */
export function addReason(
  command: Command,
  reasons: Readonly<Record<string, string>>,
  { isOptional = false }: { isOptional?: boolean } = {},
): Command {
  const names = Object.keys(reasons)
  const meanings = Object.entries(reasons).map(([reason, meaning]) => `  ${reason.padEnd(20)}${meaning}`)
  const option = new Option('--reason <reason>', `why: one of ${names.join(', ')}`)
  return command
    .addOption(option.argParser(oneOf(names)).makeOptionMandatory(!isOptional))
    .option('--reference <number>', `a case number of yours: ${RULE}`, referenceOf)
    .addHelpText('after', ['\nReasons:', ...meanings].join('\n'))
}

/** As the audit takes it. */
export const detailOf = ({ reason, reference }: Given<string>) => ({
  reason,
  ...(reference !== undefined && { reference }),
})

export async function close(context: StaffContext, lead: number, given: Given<CloseReason>) {
  const { reason } = given
  const { partner_id: partnerId, closed_at: closedAt, close_reason } = await requireLead(context.sql, lead)
  if (closedAt !== null) {
    return {
      json: { lead_id: lead, outcome: 'already_closed', closed_at: closedAt, close_reason },
      text: `Lead ${lead} was already closed at ${formatTimestamp(closedAt)} UTC: ${close_reason}.`,
    }
  }
  const action = { action: 'lead.close', partnerId, leadId: lead, detail: detailOf(given) }
  const closed = await context.act(action, async () => {
    await context.referrals.close(lead, reason)
    const result = (await findLeadRecord(context.sql, lead))?.closed_at
    return { result, detail: { outcome: result ? 'closed' : 'accepted' } }
  })
  const outcome = closed ? 'closed' : 'accepted'
  return {
    json: { lead_id: lead, outcome, closed_at: closed ?? null, close_reason: reason },
    text: closed
      ? `Closed lead ${lead}. Open webhooks are still sent. get-lead has closed_at.`
      : `Lead ${lead} will be closed once the score provider has answered: see "lead show ${lead}".`,
  }
}

interface Corrections {
  firstName?: string
  lastName?: string
  email?: string
  phone?: string
}

/** Sets who the borrower is, in one transaction with its audit row. */
export async function correct(context: StaffContext, lead: number, given: Corrections) {
  const { firstName: first_name, lastName: last_name, email: address, phone: number } = given
  const corrections = { first_name, last_name, email: address, phone: number }
  const corrected = requiredFields.filter((field) => corrections[field] !== undefined)
  if (corrected.length === 0)
    throw new Refusal('Name what to correct: --first-name, --last-name, --email or --phone.')
  const keys = await context.encryptionKeys()
  await context.change(async ({ sql, audit }) => {
    const row = await sql
      .selectFrom('leads')
      .select(['partner_id', 'personal', 'erased_at'])
      .where('id', '=', lead)
      .forUpdate()
      .executeTakeFirst()
    if (row === undefined) throw noSuchLead(lead)
    if (row.erased_at !== null || row.personal === null) throw wasErased(lead, row.erased_at ?? new Date())
    const known = openBorrower(lead, row.personal, keys)
    const borrower = eachField(requiredFields, (field) => corrections[field] ?? known[field])
    const personal = sealBorrower(lead, borrower, keys)
    await sql
      .updateTable('leads')
      .set({ personal, email_hash: hashOfBorrower(borrower, personal, keys), updated_at: leadsChange })
      .where('id', '=', lead)
      .execute()
    const detail = { fields: corrected }
    await audit({ action: 'lead.correct', partnerId: row.partner_id, leadId: lead, detail })
  })
  return {
    json: { lead_id: lead, corrected },
    text: `Corrected ${corrected.join(', ')} of lead ${lead}.`,
  }
}

const EXAMPLE =
  '{"experian_gain": 12, "equifax_gain": 8, "transunion_gain": 10, "estimated_time_remaining": "30-60 days"}'

const help = [
  '\nNames:',
  ...signalledMilestones.map((each) => `  ${each.padEnd(24)}${milestones[each].meaning}`),
  '\nExamples:',
  '  npm run staff -- milestone 1 contract_signed',
  `  npm run staff -- milestone 1 score_update --payload '${EXAMPLE}'`,
].join('\n')

export function addMilestoneCommand(program: Command, run: Run): void {
  const id = matching(IDEMPOTENCY_KEY, 'Use 1 to 255 visible ASCII characters without spaces.')
  program
    .command('milestone')
    .description('record that a borrower reached a milestone')
    .argument('<lead>', 'its id', leadArgument)
    .argument('<name>', 'which milestone', oneOf(signalledMilestones))
    .option('--payload <json>', 'of a score_update; without it the score provider is asked', json)
    .option('--id <id>', 'idempotency key: the same milestone with the same id is recorded once', id)
    .addHelpText('after', help)
    .action(run(milestone))
}

function json(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new InvalidArgumentError(`It is not JSON. Put it in single quotes: '${EXAMPLE}'.`)
  }
}

/** Sends a milestone to the lead's workflow and waits for its answer. */
export async function milestone(
  context: StaffContext,
  lead: number,
  reached: SignalledMilestone,
  { payload, id }: { payload?: unknown; id?: string } = {},
) {
  if (payload !== undefined) requireGains(reached, payload)
  const { partner_id: partnerId, closed_at: closedAt } = await requireLead(context.sql, lead)
  if (closedAt !== null) throw new Refusal(`Lead ${lead} is closed and accepts no more milestones.`)
  const gains = parseScoreGains(payload)
  const request = { name: reached, ...(id !== undefined && { id }), ...(gains && { event_payload: gains }) }
  const action = { action: 'milestone', partnerId, leadId: lead, detail: { name: reached, id: id ?? null } }
  const { outcome, event_id: event } = await context.act(action, async () => {
    const answer = await context.referrals.record(lead, request).catch(refusedByWorkflow)
    const { outcome: answered, event_id } = answer ?? { outcome: 'closed', event_id: null }
    if (answered !== 'accepted' && answered !== 'recorded' && answered !== 'repeated') {
      const why =
        answered === 'full' ? 'has reached the sandbox’s limit of events' : `has ended (${answered})`
      throw new Refusal(`Lead ${lead} ${why}: nothing was recorded.`)
    }
    const result = { outcome: answered === 'repeated' ? 'already_recorded' : answered, event_id } as const
    return { result, detail: result }
  })
  const texts = {
    recorded: `Recorded ${reached} for lead ${lead} as ${event}.`,
    already_recorded: `Nothing changed: lead ${lead} already has ${reached}, as ${event}.`,
    accepted: `Accepted ${reached} for lead ${lead}: it is recorded once the score provider answers.`,
  }
  return {
    json: { lead_id: lead, event_name: reached, event_id: event, outcome },
    text: texts[outcome],
  }
}

/** @throws {Refusal} */
function requireGains(reached: SignalledMilestone, payload: unknown): void {
  if (!takesPayload(reached)) throw new Refusal(`${reached} has no payload: leave out --payload.`)
  const unknown = unknownGains(payload)
  const fault =
    faultOfScoreGains(payload) ?? (unknown.length > 0 && `must have gains only, not ${listOf(unknown)}`)
  if (fault) throw new Refusal(`--payload ${fault}. Example: '${EXAMPLE}'.`)
}

/** The workflow's own words say why it refuses. */
function refusedByWorkflow(error: unknown): never {
  if (error instanceof WorkflowUpdateFailedError) throw new Refusal(error.cause?.message ?? error.message)
  throw error
}
