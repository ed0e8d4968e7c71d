import { type Command, Option } from 'commander'
import { sendNowSignal } from '../../workflows/messages.ts'
import { requireLead } from '../leads/require-lead.ts'
import { requirePartner } from '../partners/require-partner.ts'
import { fields, printable, soon, table } from '../staff/answer.ts'
import { leadArgument, moment, oneOf, partnerArgument, rows } from '../staff/arguments.ts'
import type { Run, StaffContext } from '../staff/context.ts'
import { Refusal } from '../staff/refusal.ts'
import { replayId, resendId } from '../temporal/names.ts'
import { type DeliveryStatus, deliveryStatuses, MOST_RESENDS } from './delivery-states.ts'
import { findDeliveries, nextText } from './list-deliveries.ts'
import { findDelivery, latestResend } from './resend-webhook.ts'
import { countReplay, type ReplayFilter } from './resends.ts'

export interface ReplayOptions {
  partner: number
  since?: Date
  until?: Date
  state: 'given_up' | 'delivered' | 'all'
  dryRun?: boolean
}

const states: Record<ReplayOptions['state'], ReplayFilter['states']> = {
  given_up: ['given_up'],
  delivered: ['delivered'],
  all: ['given_up', 'delivered'],
}

/** Resends settled webhooks, each lead's in order, more slowly than live traffic. */
export async function replay(
  context: StaffContext,
  { partner, since, until, state, dryRun = false }: ReplayOptions,
) {
  const name = await requirePartner(context.sql, partner)
  const filter: ReplayFilter = {
    partnerId: partner,
    states: states[state],
    since: since?.toISOString() ?? null,
    until: until?.toISOString() ?? null,
    settledBefore: new Date().toISOString(),
  }
  const counts = await countReplay(context.sql, filter)
  const json = { partner_id: partner, since: filter.since, until: filter.until, ...counts }
  const text = fields({
    partner: `${partner}, ${name}`,
    webhooks: counts.webhooks,
    leads: counts.leads,
    'given up': counts.given_up,
    delivered: counts.delivered,
  })
  if (dryRun) return { json: { ...json, workflow_id: null }, text }
  if (counts.webhooks === 0) throw new Refusal('There are no such webhooks: see "delivery list".')
  const action = { action: 'delivery.replay', partnerId: partner, detail: { ...filter, ...counts } }
  const workflowId = await context.act(action, async () => {
    const result = await context.resends.replay(filter, counts.webhooks)
    if (result !== undefined) return { result }
    throw new Refusal(
      `A replay for partner ${partner} is already under way: see the workflow ${replayId(partner)} in the Temporal Web UI.`,
    )
  })
  return {
    json: { ...json, workflow_id: workflowId },
    text: `${text}\n\nThe replay has started. To see its progress or cancel it: the workflow ${workflowId} in the Temporal Web UI.`,
  }
}

/** Longer than a webhook request may take. */
const ATTEMPT_LIMIT_MS = 25_000

export async function resend(context: StaffContext, event: string) {
  const delivery = await findDelivery(context.sql, event)
  if (delivery === undefined) {
    throw new Refusal(
      `There is no delivery of ${printable(event)}: see "delivery list" for the event ids (evt_…).`,
    )
  }
  if (delivery.state === 'canceled') {
    throw new Refusal(
      `Webhook ${event} was canceled and cannot be sent. The partner reads its event with get-events.`,
    )
  }
  return delivery.state === 'pending' ? tryNow(context, delivery) : sendAgain(context, delivery)
}

type Found = NonNullable<Awaited<ReturnType<typeof findDelivery>>>

/** An open one: it keeps its place among the lead's webhooks. */
async function tryNow(context: StaffContext, delivery: Found) {
  const { event_id, lead_id, partner_id, waits_for } = delivery
  await context.act(actionOf(delivery), async () => {
    // it follows the earlier one by itself
    if (waits_for === null) await context.referrals.signal(lead_id, sendNowSignal)
    return { result: undefined, detail: { outcome: 'due' } }
  })
  const endpoint_paused = delivery.endpoint_state === 'paused'
  const text = [`Webhook ${event_id} of lead ${lead_id} is due now.`]
  if (waits_for !== null)
    text.push(`It waits for ${waits_for.event_id} (sequence ${waits_for.sequence}): resend that one.`)
  if (endpoint_paused) text.push(`Its endpoint is paused: it is sent after "endpoint resume ${partner_id}".`)
  return {
    json: { event_id, lead_id, partner_id, outcome: 'due', waits_for, endpoint_paused },
    text: text.join('\n'),
  }
}

const outcomes = {
  delivered: 'Resent, and the endpoint accepted it',
  failed: 'Resent, but the endpoint did not accept it',
  held: 'Not sent until the endpoint is resumed or has a URL',
  accepted: 'Not sent yet, but it will be',
}
type Outcome = keyof typeof outcomes

/** A settled one: one more attempt, not in the lead's order and after the resends that were requested before. */
async function sendAgain(context: StaffContext, delivery: Found) {
  const { event_id: event, lead_id: lead, partner_id: partner, sequence, state } = delivery
  const outcome = await context.act(actionOf(delivery), async () => {
    const before = (await latestResend(context.sql, event))?.number ?? 0
    const refused = await context.resends.add(partner, [{ leadId: lead, sequence }])
    if (refused.length > 0) {
      throw new Refusal(
        `Partner ${partner} already has ${MOST_RESENDS} resends waiting, which is the limit: see the workflow ${resendId(partner)} in the Temporal Web UI.`,
      )
    }
    const result = await latestOutcome(context, event, before)
    return { result, detail: { outcome: result } }
  })
  return {
    json: { event_id: event, lead_id: lead, partner_id: partner, outcome, state_before: state },
    text: `${outcomes[outcome]}: ${event}, ${state} before. See "lead show ${lead}".`,
    failed: outcome === 'failed' || outcome === 'held',
  }
}

/** How the new attempt ended; `accepted` when that is not known in time. */
async function latestOutcome({ sql }: StaffContext, event: string, before: number): Promise<Outcome> {
  const found = await soon<Outcome>(async () => {
    const latest = await latestResend(sql, event)
    if (latest !== undefined && latest.number > before && latest.finished_at !== null)
      return latest.error_code === null ? 'delivered' : 'failed'
    return (await findDelivery(sql, event))?.endpoint_state === 'paused' ? 'held' : undefined
  }, ATTEMPT_LIMIT_MS)
  return found ?? 'accepted'
}

function actionOf({ event_id, state, lead_id: leadId, partner_id: partnerId }: Found) {
  return {
    action: 'delivery.resend',
    partnerId,
    leadId,
    detail: { event_id, state },
  }
}

interface ListOptions {
  partner?: number
  lead?: number
  state?: DeliveryStatus
  since?: Date
  until?: Date
  limit: number
}

export function addDeliveryCommands(program: Command, run: Run): void {
  const delivery = program
    .command('delivery')
    .description('webhooks: one delivery for each event that is sent')
    .addHelpText('after', '\nExample:\n  npm run staff -- delivery list --partner 1 --state pending')
  const ofTime = (name: string) =>
    delivery
      .command(name)
      .option('--since <time>', 'events from this time on', moment)
      .option('--until <time>', 'events before this time', moment)
  ofTime('list')
    .description('newest first; those of one lead in order')
    .option('--partner <partner>', 'only this partner’s', partnerArgument)
    .option('--lead <lead>', 'only this lead’s', leadArgument)
    .addOption(
      new Option('--state <state>', `only in this state: ${deliveryStatuses.join(', ')}`).argParser(
        oneOf(deliveryStatuses),
      ),
    )
    .option('--limit <rows>', 'at most this many', rows, 100)
    .action(run(list))
  delivery
    .command('resend')
    .description('try an open webhook now, or resend a settled one')
    .argument('<event>', 'its evt_…, see "delivery list"')
    .action(run(resend))
  ofTime('replay')
    .description('resend settled webhooks, in order for each lead and slower than live traffic')
    .requiredOption('--partner <partner>', 'whose', partnerArgument)
    .addOption(
      new Option('--state <state>', 'given_up, delivered or all')
        .argParser(oneOf(['given_up', 'delivered', 'all']))
        .default('given_up'),
    )
    .option('--dry-run', 'only count them')
    .action(run(replay))
}

export async function list({ sql }: StaffContext, options: ListOptions) {
  const { partner, lead, state, limit, since, until } = options
  if (partner !== undefined) await requirePartner(sql, partner)
  if (lead !== undefined) await requireLead(sql, lead, { evenErased: true })
  const found = await findDeliveries(sql, {
    ...(partner !== undefined && { partnerId: partner }),
    ...(lead !== undefined && { leadId: lead }),
    ...(state !== undefined && { states: [state] }),
    ...(since !== undefined && { since }),
    ...(until !== undefined && { until }),
    limit,
  })
  const deliveries = found.map((row) => ({ ...row, attempts: row.attempts ?? 0 }))
  const text = table(deliveries, {
    event: 'event_id',
    partner: 'partner_id',
    lead: 'lead_id',
    '#': 'sequence',
    name: 'event_name',
    state: 'state',
    attempts: 'attempts',
    'next or settled': (row) => row.settled_at ?? nextText(row),
    last: (row) => row.last_status ?? row.last_error_code ?? (row.attempts > 0 ? 'under way' : null),
    hint: (row) => (row.state === 'delivered' ? null : row.last_hint),
  })
  const more = deliveries.length === limit ? `\n\nOnly ${limit} are listed. To see more: --limit.` : ''
  return {
    json: { deliveries },
    text: deliveries.length === 0 ? 'There are no such deliveries.' : text + more,
  }
}
