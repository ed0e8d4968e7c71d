import { WorkflowUpdateFailedError } from '@temporalio/client'
import { type Command, InvalidArgumentError, Option } from 'commander'
import type { z } from 'zod'
import type { MilestoneAnswer } from '../../workflows/messages.ts'
import { email, name as personName, phone } from '../http/fields.ts'
import { table } from '../staff/answer.ts'
import { leadArgument, matching, oneOf, partnerArgument } from '../staff/arguments.ts'
import { MOST_COUNTED } from '../staff/attention.ts'
import type { Run, StaffContext } from '../staff/context.ts'
import { Refusal } from '../fail.ts'
import { formatTimestamp, IDEMPOTENCY_KEY } from '../values.ts'
import {
  type Borrower,
  leadUpdatedAt,
  leadsWithoutNews,
  NEWS_WITHIN_DAYS,
  openBorrower,
  sealBorrower,
} from './lead.ts'
import { parseScoreGains, takesPayload, unknownGains } from './event-payloads.ts'
import { eachField, requiredFields } from './lead-fields.ts'
import { find, requireLead } from './staff-find.ts'
import { milestones, type SignalledMilestone, signalledMilestones } from './milestones.ts'
import { type CloseReason, closeReasons, REFERENCE } from './reasons.ts'

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
  lead
    .command('list')
    .description(
      `open leads, not mortgage ready, without an event for ${NEWS_WITHIN_DAYS} days by their own clock; longest first`,
    )
    .action(run(listWithoutNews))
  addReason(named('close'), closeReasons)
    .description('the borrower dropped out: nothing more is recorded; open webhooks are still sent')
    .action(run(close))
  named('correct')
    .description('set a mistyped name, address or number; the audit has which fields, never their values')
    .option('--first-name <name>', 'the first name', valid(personName))
    .option('--last-name <name>', 'the last name', valid(personName))
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

/** An argument parser with a rule of create-lead. */
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

/** Closes a lead. A repeat changes nothing, and says why it was closed. */
export async function close(context: StaffContext, lead: number, { reason, reference }: Given<CloseReason>) {
  const { partner_id: partnerId } = await requireLead(context.sql, lead)
  const action = { action: 'lead.close', partnerId, leadId: lead, detail: { reason, reference } }
  const { closed_at, close_reason } = await context.act(action, async () => {
    await context.referrals.close(lead, reason)
    const result = await requireLead(context.sql, lead)
    return { result, detail: { close_reason: result.close_reason } }
  })
  return {
    json: { lead_id: lead, closed_at, close_reason },
    text: closed_at
      ? `Lead ${lead} is closed since ${formatTimestamp(closed_at)} UTC: ${close_reason}. Open webhooks are still sent.`
      : `Lead ${lead} will be closed once the score provider has answered: see "lead show ${lead}".`,
  }
}

/** Sets who the borrower is, in one transaction with its audit row. */
export async function correct(
  context: StaffContext,
  lead: number,
  {
    firstName,
    lastName,
    ...others
  }: { firstName?: string; lastName?: string; email?: string; phone?: string },
) {
  const corrections: Partial<Borrower> = { first_name: firstName, last_name: lastName, ...others }
  const corrected = requiredFields.filter((field) => corrections[field] !== undefined)
  if (corrected.length === 0)
    throw new Refusal('Name what to correct: --first-name, --last-name, --email or --phone.')
  const keys = await context.encryptionKeys()
  await context.change(async ({ sql, audit }) => {
    const { partner_id: partnerId, personal } = await requireLead(sql, lead)
    const known = openBorrower(lead, personal ?? '', keys)
    const borrower = { ...known, ...eachField(corrected, (field) => corrections[field] ?? known[field]) }
    const { numUpdatedRows } = await sql
      .updateTable('leads')
      .set({ ...sealBorrower(lead, borrower, keys), updated_at: leadUpdatedAt })
      .where('id', '=', lead)
      .where('personal', '=', personal)
      .executeTakeFirst()
    if (numUpdatedRows === 0n) throw new Refusal(`Lead ${lead} has just been changed: try again.`)
    await audit({ action: 'lead.correct', partnerId, leadId: lead, detail: { fields: corrected } })
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

const outcomeTexts: Partial<Record<MilestoneAnswer['outcome'], string>> = {
  recorded: 'recorded',
  repeated: 'already recorded, nothing changed',
  accepted: 'accepted, and recorded once the score provider answers',
}

/** Sends a milestone to the lead's workflow and waits for its answer. */
export async function milestone(
  context: StaffContext,
  lead: number,
  name: SignalledMilestone,
  { payload, id }: { payload?: unknown; id?: string } = {},
) {
  const gains = parseScoreGains(payload)
  if (payload !== undefined && !takesPayload(name)) throw new Refusal(`${name} has no payload.`)
  if (payload !== undefined && (gains === undefined || unknownGains(payload).length > 0))
    throw new Refusal(`--payload must have the four fields of gains only: '${EXAMPLE}'.`)
  const { partner_id: partnerId } = await requireLead(context.sql, lead)
  const request = { name, ...(id !== undefined && { id }), ...(gains && { event_payload: gains }) }
  const action = { action: 'milestone', partnerId, leadId: lead, detail: { name, id } }
  const { outcome, event_id } = await context.act(action, async () => {
    const result = await context.referrals.record(lead, request).catch(refusedByWorkflow)
    if (result && outcomeTexts[result.outcome] !== undefined) return { result, detail: { ...result } }
    const why = result?.outcome ?? 'closed'
    throw new Refusal(`Lead ${lead} takes no more milestones (${why}): nothing was recorded.`)
  })
  return {
    json: { lead_id: lead, event_name: name, event_id, outcome },
    text: `${name} of lead ${lead}: ${outcomeTexts[outcome]}. Event: ${event_id ?? 'none yet'}.`,
  }
}

/** The workflow's message says why it refuses. */
function refusedByWorkflow(error: unknown): never {
  if (error instanceof WorkflowUpdateFailedError) throw new Refusal(error.cause?.message ?? error.message)
  throw error
}
