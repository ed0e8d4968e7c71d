import { WorkflowUpdateFailedError } from '@temporalio/client'
import { type Command, InvalidArgumentError } from 'commander'
import { v7 as newUuid } from 'uuid'
import { table } from '../staff/answer.ts'
import { leadArgument, matching, oneOf } from '../staff/arguments.ts'
import { MOST_COUNTED } from '../staff/attention.ts'
import type { Run, StaffContext } from '../staff/context.ts'
import { Refusal } from '../staff/refusal.ts'
import { formatTimestamp, IDEMPOTENCY_KEY } from '../values.ts'
import { leadsWithoutNews, NEWS_WITHIN_DAYS } from './attention.ts'
import {
  faultOfScoreGains,
  parseScoreGains,
  type ScoreGains,
  takesPayload,
  unknownGains,
} from './event-payloads.ts'
import { milestones, type SignalledMilestone, signalledMilestones } from './milestones.ts'
import { listOf } from './operator-text.ts'
import { type CloseReason, closeReasons } from './reasons.ts'
import { addReason, detailOf, findLeadRecord, type Given, requireLead } from './require-lead.ts'
import { showLead } from './staff-show.ts'

export function addLeadCommands(program: Command, run: Run): void {
  const lead = program
    .command('lead')
    .description('referred borrowers')
    .addHelpText('after', '\nExample:\n  npm run staff -- lead close 1 --reason withdrew')
  const named = (name: string) => lead.command(name).argument('<lead>', 'its id', leadArgument)
  named('show')
    .description('fields, events, webhooks with their attempts, and the workflow')
    .action(
      run(async (context, id: number) =>
        showLead(context, await requireLead(context.sql, id, { evenErased: true })),
      ),
    )
  addReason(named('close'), closeReasons)
    .description('the borrower dropped out: nothing more is recorded; open webhooks are still sent')
    .action(run(close))
  lead
    .command('list')
    .description('open leads to look at, the longest without news first')
    .requiredOption(
      '--without-news',
      `no event for ${NEWS_WITHIN_DAYS} days by their own clock, and not mortgage ready`,
    )
    .action(run(listWithoutNews))
}

async function listWithoutNews({ sql }: StaffContext) {
  const leads = await leadsWithoutNews(sql, MOST_COUNTED).execute()
  const text =
    leads.length === 0
      ? 'No lead is without news.'
      : table(leads, {
          lead: 'lead_id',
          partner: 'partner_id',
          status: 'status',
          'last event': 'last_event_at',
        })
  return { json: { leads }, text }
}

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
      : `Lead ${lead} is closed once the scores that were asked for are there: see "lead show ${lead}".`,
  }
}

const EXAMPLE =
  '{"experian_gain": 12, "equifax_gain": 8, "transunion_gain": 10, "estimated_time_remaining": "30-60 days"}'

const help = [
  '\nNames:',
  ...signalledMilestones.map((name) => `  ${name.padEnd(24)}${milestones[name].meaning}`),
  '\nExamples:',
  '  npm run staff -- milestone 1 contract_signed',
  `  npm run staff -- milestone 1 score_update --payload '${EXAMPLE}'`,
].join('\n')

interface Options {
  payload?: unknown
  id?: string
}

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
  name: SignalledMilestone,
  options: Options = {},
) {
  const { payload } = options
  const gains = payload === undefined ? undefined : readGains(name, payload)
  const { partner_id: partnerId, closed_at: closedAt } = await requireLead(context.sql, lead)
  if (closedAt !== null) throw new Refusal(`Lead ${lead} is closed and accepts no more milestones.`)
  // a repeating milestone needs an id: sent as an update and as a signal, it counts once
  const id = options.id ?? (milestones[name].once ? undefined : newUuid())
  const request = { name, ...(id && { id }), ...(gains && { event_payload: gains }) }
  const action = { action: 'milestone', partnerId, leadId: lead, detail: { name, id: id ?? null } }
  const { outcome, event_id: event } = await context.act(action, async () => {
    const answer = await context.referrals.record(lead, request).catch(refusedByWorkflow)
    const { outcome: answered = 'accepted', event_id = null } = answer ?? {}
    if (answered !== 'accepted' && answered !== 'recorded' && answered !== 'repeated') {
      const why = answered === 'full' ? 'has as many events as a sandbox records' : `has ended (${answered})`
      throw new Refusal(`Lead ${lead} ${why}: nothing was recorded.`)
    }
    const result = { outcome: answered === 'repeated' ? 'already_recorded' : answered, event_id } as const
    return { result, detail: result }
  })
  const texts = {
    recorded: `Recorded ${name} for lead ${lead} as ${event}.`,
    already_recorded: `Nothing changed: lead ${lead} already has ${name}, as ${event}.`,
    accepted: `Accepted ${name} for lead ${lead}, but it is not recorded yet. Is a worker running? See "lead show ${lead}".`,
  }
  return {
    json: { lead_id: lead, event_name: name, event_id: event, outcome },
    text: texts[outcome],
  }
}

/** @throws {Refusal} */
function readGains(name: SignalledMilestone, payload: unknown): ScoreGains {
  if (!takesPayload(name)) throw new Refusal(`${name} has no payload: leave out --payload.`)
  const unknown = unknownGains(payload)
  const gains = parseScoreGains(payload)
  const fault =
    faultOfScoreGains(payload) ?? (unknown.length > 0 && `must have gains only, not ${listOf(unknown)}`)
  if (gains === undefined || fault) throw new Refusal(`--payload ${fault}. Example: '${EXAMPLE}'.`)
  return gains
}

/** The workflow's own words say why it refuses. */
function refusedByWorkflow(error: unknown): never {
  if (error instanceof WorkflowUpdateFailedError) throw new Refusal(error.cause?.message ?? error.message)
  throw error
}
