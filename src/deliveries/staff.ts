import { type Command, Option } from 'commander'
import { requirePartner } from '../partners/staff.ts'
import { fields, printable, table } from '../staff/answer.ts'
import { leadArgument, moment, oneOf, partnerArgument, rows } from '../staff/arguments.ts'
import type { Run, StaffContext } from '../staff/context.ts'
import { Refusal } from '../fail.ts'
import { endpointWorkflowId } from '../temporal/names.ts'
import { type DeliveryStatus, deliveryStatuses, MOST_RESENDS } from './delivery-states.ts'
import { findDeliveries, nextText } from './list-deliveries.ts'
import { countReplay, describeResend, findWebhook, forgetAsked, type ReplayFilter } from './resends.ts'

export function addDeliveryCommands(program: Command, run: Run): void {
  const delivery = program
    .command('delivery')
    .description('webhooks: one delivery for each event that is sent')
    .addHelpText('after', '\nExample:\n  npm run staff -- delivery list --partner 1 --state pending')
  delivery
    .command('list')
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
  delivery
    .command('replay')
    .description('resend settled webhooks, in order for each lead and slower than live traffic')
    .requiredOption('--partner <partner>', 'whose', partnerArgument)
    .option('--since <time>', 'events from this time on', moment)
    .option('--until <time>', 'events before this time', moment)
    .addOption(
      new Option('--state <state>', 'given_up, delivered or all')
        .argParser(oneOf(['given_up', 'delivered', 'all']))
        .default('given_up'),
    )
    .option('--dry-run', 'only count them')
    .option('--stop', 'drop the replays and resends that still wait')
    .action(run(async (context, options: ReplayOptions) => (options.stop ? stop : replay)(context, options)))
}

interface ListOptions {
  partner?: number
  lead?: number
  state?: DeliveryStatus
  limit: number
}

async function list({ sql }: StaffContext, { partner, lead, state, limit }: ListOptions) {
  if (partner !== undefined) await requirePartner(sql, partner)
  const states = state && [state]
  const found = await findDeliveries(sql, { partnerId: partner, leadId: lead, states, limit })
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

/** Tries an open webhook now, or sends a settled one again, after the resends that were requested before. */
export async function resend(context: StaffContext, event: string) {
  const delivery = await findWebhook(context.sql, event)
  if (delivery === undefined || delivery.state === null || delivery.state === 'canceled')
    throw new Refusal(`There is no delivery of ${printable(event)} that can be sent: see "delivery list".`)
  const { lead_id: leadId, partner_id: partnerId, state, waits_for } = delivery
  const action = { action: 'delivery.resend', partnerId, leadId, detail: { event_id: event, state } }
  await context.act(action, async () => {
    const outcome = await context.resends.resend(delivery)
    if (outcome === 'accepted') return { result: outcome }
    throw new Refusal(
      `${MOST_RESENDS} resends wait already: see the workflow ${endpointWorkflowId(partnerId)}.`,
    )
  })
  return {
    json: { event_id: event, lead_id: leadId, partner_id: partnerId, state_before: state, waits_for },
    text: `${describeResend(delivery)} To see what became of it: lead show ${leadId}.`,
  }
}

export interface ReplayOptions {
  partner: number
  since?: Date
  until?: Date
  state: 'given_up' | 'delivered' | 'all'
  dryRun?: boolean
  stop?: boolean
}

/** Resends settled webhooks, each lead's in order, more slowly than live traffic. */
export async function replay(
  context: StaffContext,
  { partner, since, until, state, dryRun = false }: ReplayOptions,
) {
  const name = await requirePartner(context.sql, partner)
  const filter: ReplayFilter = {
    partnerId: partner,
    states: state === 'all' ? ['given_up', 'delivered'] : [state],
    since: since ?? null,
    until: until ?? null,
  }
  const counts = await countReplay(context.sql, filter)
  const json = { partner_id: partner, since: filter.since, until: filter.until, ...counts }
  const text = fields({ partner: `${partner}, ${name}`, ...counts })
  if (dryRun) return { json: { ...json, workflow_id: null }, text }
  if (counts.webhooks === 0) throw new Refusal('There are no such webhooks: see "delivery list".')
  const action = { action: 'delivery.replay', partnerId: partner, detail: { ...filter, ...counts } }
  await context.act(action, async () => ({ result: await context.resends.replay(filter) }))
  const workflowId = endpointWorkflowId(partner)
  return {
    json: { ...json, workflow_id: workflowId },
    text: `${text}\n\nThe replay has started. The workflow ${workflowId} in the Temporal Web UI shows how many wait. To stop it: delivery replay --partner ${partner} --stop.`,
  }
}

/** Drops the replays and resends that still wait. */
export async function stop({ sql, change }: StaffContext, { partner }: { partner: number }) {
  await requirePartner(sql, partner)
  const webhooks = await change(async ({ sql: trx, audit }) => {
    const leftOut = await forgetAsked(trx, partner)
    await audit({ action: 'delivery.stop', partnerId: partner, detail: { webhooks: leftOut } })
    return leftOut
  })
  return { json: { partner_id: partner, webhooks }, text: `Dropped ${webhooks} webhooks that still waited.` }
}
