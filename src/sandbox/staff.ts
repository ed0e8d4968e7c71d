import { type Command, Option } from 'commander'
import { type ClockStop, clockStops, type Happened, MOST_DAYS, MOST_YEARS } from './lead-clock.ts'
import { formatTimestamp } from '../values.ts'
import { type AdvanceOutcome, createClocks } from './clocks.ts'
import { fields, table } from '../staff/answer.ts'
import { leadArgument, nounOf, oneOf, whole } from '../staff/arguments.ts'
import type { StaffContext, Run } from '../staff/context.ts'
import { Refusal } from '../staff/refusal.ts'
import { requireLead } from '../leads/require-lead.ts'

interface Options {
  days?: number
  to?: ClockStop
}

export function addSandboxCommands(program: Command, run: Run): void {
  const days = whole(1, MOST_DAYS)
  nounOf(program, 'lead')
    .command('advance')
    .argument('<lead>', 'its id', leadArgument)
    .description('move the lead’s clock forward, in a sandbox: what falls due on the way happens')
    .addOption(new Option('--days <n>', `how many days, 1 to ${MOST_DAYS}`).argParser(days).conflicts('to'))
    .option('--to <what>', `until what is due: ${clockStops.join(', ')}`, oneOf(clockStops))
    .addHelpText('after', '\nExample:\n  npm run staff -- lead advance 1 --days 45')
    .action(run(advanceLead))
}

/** Moves a lead's clock as the API does, with an audit row. */
export async function advanceLead(context: StaffContext, lead: number, { days, to }: Options) {
  if (context.config.ENVIRONMENT !== 'sandbox') throw new Refusal('A clock can be moved in a sandbox only.')
  if (days === undefined && to === undefined) throw new Refusal('Say how far: --days or --to.')
  const { partner_id: partnerId, closed_at: closedAt } = await requireLead(context.sql, lead)
  if (closedAt !== null) throw new Refusal(`Lead ${lead} is closed: its clock stays where it is.`)
  const target = to === undefined ? { days: days ?? 0 } : { to }
  const action = { action: 'lead.advance', partnerId, leadId: lead, detail: target }
  const clocks = createClocks(context)
  const advanced = await context.act(action, async () => {
    const result = orRefusal(lead, await clocks.advance(lead, target))
    return { result, detail: { outcome: result.kind, offset_seconds: result.clock.offsetSeconds } }
  })
  const { kind, clock, happened, stopped } = advanced
  const status = kind === 'advancing' ? kind : clock.status
  const lines = happened.map(lineOf)
  return {
    json: { lead_id: lead, now: new Date(clock.now), status, happened: lines, stopped: stopped ?? null },
    text: [
      fields({ lead, now: new Date(clock.now), status, ...(stopped && { stopped }) }),
      ...(lines.length === 0
        ? []
        : [
            table(lines, {
              at: 'at',
              what: 'what',
              event: 'event_name',
              webhook: 'sequence',
              status: 'status',
            }),
          ]),
      ...(kind === 'advancing' ? ['The rest goes on by itself: see "lead show".'] : []),
    ].join('\n\n'),
  }
}

/** @throws {Refusal} why the clock was not moved. */
function orRefusal(lead: number, advanced: AdvanceOutcome | undefined) {
  if (advanced !== undefined && 'clock' in advanced) return advanced
  const reasons = {
    moving: `The clock of lead ${lead} is moving already: try again once it has stopped.`,
    too_far: `A clock can be at most ${MOST_YEARS} years ahead.`,
    unanswered: `The clock of lead ${lead} has not moved yet. Is a worker running?`,
  }
  throw new Refusal(advanced === undefined ? `There is no lead ${lead}.` : reasons[advanced.kind])
}

function lineOf(happened: Happened) {
  const { what } = happened
  const at = formatTimestamp(new Date(happened.at))
  if (happened.what === 'end') return { at, what, event_name: null, sequence: null, status: null }
  const { eventName: event_name, sequence } = happened
  return { at, what, event_name, sequence, status: happened.what === 'webhook' ? happened.status : null }
}
