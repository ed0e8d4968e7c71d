import { WorkflowUpdateFailedError } from '@temporalio/client'
import type { Command } from 'commander'
import { v7 as uuidv7 } from 'uuid'
import { parseScoreGains, takesPayload } from '../domain/event-payloads.ts'
import {
  isMilestoneName,
  milestones,
  type SignalledMilestone,
  signalledMilestones,
} from '../domain/milestones.ts'
import type { MilestoneAnswer } from '../temporal/referrals.ts'
import { type Answer, printable } from './answer.ts'
import { leadId } from './arguments.ts'
import type { StaffContext, Run } from './context.ts'
import { requireLead } from './lead.ts'
import { Refusal } from './refusal.ts'

const ID = /^[\x21-\x7e]{1,255}$/
const EXAMPLE =
  '{"experian_gain": 12, "equifax_gain": 8, "transunion_gain": 10, "estimated_time_remaining": "30-60 days"}'

interface Options {
  payload?: string
  id?: string
}

export function addMilestoneCommand(program: Command, run: Run): void {
  const names = signalledMilestones.map((name) => `  ${name.padEnd(24)}${milestones[name].meaning}`)
  program
    .command('milestone')
    .description('tell the service that a borrower reached a milestone')
    .argument('<lead>', 'its id', leadId)
    .argument('<name>', 'one of the names below')
    .option('--payload <json>', 'of a score_update; without it the score provider is asked')
    .option('--id <id>', 'the same id counts once: for a milestone that repeats')
    .addHelpText('after', `\nNames:\n${names.join('\n')}`)
    .addHelpText('after', '\nExamples:\n  npm run staff -- milestone 1 contract_signed')
    .addHelpText('after', `  npm run staff -- milestone 1 score_update --payload '${EXAMPLE}'`)
    .action(run(milestone))
}

/** Sends a milestone to the lead's workflow and says what became of it. */
export async function milestone(
  context: StaffContext,
  lead: number,
  text: string,
  options: Options = {},
): Promise<Answer> {
  const name = nameOf(text)
  const payload = payloadOf(name, options.payload)
  if (options.id !== undefined && !ID.test(options.id)) {
    throw new Refusal('--id takes 1 to 255 visible ASCII characters without spaces.')
  }
  const { partner_id: partner, closed_at: closedAt } = await requireLead(context.sql, lead)
  if (closedAt !== null) throw new Refusal(`Lead ${lead} is closed: it takes no more milestones.`)
  // one that may repeat gets an id, so that sending it in two ways counts once
  const id = options.id ?? (milestones[name].once ? undefined : uuidv7())
  const request = {
    name,
    ...(id !== undefined && { id }),
    ...(payload !== undefined && { event_payload: payload }),
  }
  const action = { action: 'milestone', partnerId: partner, leadId: lead, detail: { name, id: id ?? null } }
  const answer = await context.act(action, async () => {
    const answered = await context.referrals.record(lead, request).catch(refusedByWorkflow)
    const result = describe(lead, name, answered)
    const { outcome, event_id } = result.json
    return { result, detail: { outcome, event_id } }
  })
  const dropped = options.payload !== undefined && payload === undefined
  return dropped
    ? { ...answer, text: `${answer.text}\n${name} carries no payload: --payload was left out.` }
    : answer
}

function describe(lead: number, name: SignalledMilestone, answer: MilestoneAnswer | undefined): Answer {
  const { outcome = 'accepted', event_id: event = null } = answer ?? {}
  const json = { lead_id: lead, event_name: name, event_id: event }
  switch (outcome) {
    case 'recorded':
      return { json: { ...json, outcome }, text: `Recorded ${name} for lead ${lead} as ${event}.` }
    case 'repeated':
      return {
        json: { ...json, outcome: 'already_recorded' },
        text: `Lead ${lead} had ${name} already, as ${event}: nothing changed.`,
      }
    case 'accepted': {
      const text = `Accepted ${name} for lead ${lead}, not recorded yet: does the worker run? See "lead show ${lead}".`
      return { json: { ...json, outcome }, text }
    }
    default:
      throw new Refusal(`Lead ${lead} is over (${outcome}): nothing was recorded.`)
  }
}

/** The workflow refuses with words that are meant to be read. */
function refusedByWorkflow(error: unknown): never {
  if (error instanceof WorkflowUpdateFailedError) throw new Refusal(error.cause?.message ?? error.message)
  throw error
}

function nameOf(text: string): SignalledMilestone {
  if (isMilestoneName(text) && text !== 'lead_received') return text
  const why =
    text === 'lead_received'
      ? 'Only create-lead records lead_received'
      : `There is no milestone ${printable(text)}`
  throw new Refusal(`${why}: name one of ${signalledMilestones.join(', ')}.`)
}

function payloadOf(name: SignalledMilestone, text: string | undefined): unknown {
  if (text === undefined) return undefined
  const payload = parseJson(text)
  if (!takesPayload(name)) return undefined
  const gains = parseScoreGains(payload)
  if (gains === undefined)
    throw new Refusal(`--payload is not a score update, which looks like '${EXAMPLE}'.`)
  return gains
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Refusal(`--payload is not JSON: put single quotes around it, as in '${EXAMPLE}'.`)
  }
}
