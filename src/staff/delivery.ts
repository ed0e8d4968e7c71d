import { type Command, Option } from 'commander'
import { bringForward, findDelivery } from '../db/delivery-resend.ts'
import { deliveryStates, type DeliveryState } from '../db/entities/delivery.ts'
import { findDeliveries } from '../db/lead-record.ts'
import { replayDelivery } from '../temporal/replay.ts'
import { type Answer, printable, table } from './answer.ts'
import { leadId, partnerId, rows } from './arguments.ts'
import type { Desk, Run } from './desk.ts'
import { Refusal } from './refusal.ts'

interface ListOptions {
  partner?: number
  lead?: number
  state?: DeliveryState
  limit: number
}

export function addDeliveryCommands(program: Command, run: Run): void {
  const delivery = program
    .command('delivery')
    .description('webhooks: one delivery for each event that partners are told of')
    .addHelpText('after', '\nExample:\n  npm run staff -- delivery list --partner 1 --state pending')
  delivery
    .command('list')
    .description('the newest first; of one lead, in their order')
    .option('--partner <partner>', 'only this partner’s', partnerId)
    .option('--lead <lead>', 'only this lead’s', leadId)
    .addOption(new Option('--state <state>', 'only those').choices(deliveryStates))
    .option('--limit <rows>', 'at most so many', rows, 100)
    .action(run(list))
  delivery
    .command('resend')
    .description('try an open webhook now, or send a settled one once more')
    .argument('<event>', 'its evt_…, see "delivery list"')
    .action(run(resend))
}

export async function list({ sql }: Desk, { partner, lead, state, limit }: ListOptions): Promise<Answer> {
  const deliveries = await findDeliveries(sql, {
    ...(partner !== undefined && { partnerId: partner }),
    ...(lead !== undefined && { leadId: lead }),
    ...(state !== undefined && { state }),
    limit,
  })
  const lines = deliveries.map((row) => [
    row.event_id,
    row.partner_id,
    row.lead_id,
    row.sequence,
    row.event_name,
    row.state,
    row.attempts ?? 0,
    row.state === 'pending' ? row.next_attempt_at : row.settled_at,
    row.last_status ?? row.last_error_code,
    row.state === 'delivered' ? null : row.last_hint,
  ])
  const headings = [
    'event',
    'partner',
    'lead',
    '#',
    'name',
    'state',
    'attempts',
    'next or settled',
    'last',
    'hint',
  ]
  const more = deliveries.length === limit ? `\n\nThese are ${limit}; --limit shows more.` : ''
  return {
    json: { deliveries: deliveries.map((row) => ({ ...row, attempts: row.attempts ?? 0 })) },
    text: deliveries.length === 0 ? 'There are no such deliveries.' : table(headings, lines) + more,
  }
}

export async function resend(desk: Desk, event: string): Promise<Answer> {
  const delivery = await findDelivery(desk.sql, event)
  if (delivery === undefined) {
    throw new Refusal(
      `There is no delivery of ${printable(event)}: see "delivery list" for the evt_… of each.`,
    )
  }
  const found = { ...delivery, event_id: event }
  return delivery.state === 'pending' ? tryNow(desk, found) : sendAgain(desk, found)
}

type Found = NonNullable<Awaited<ReturnType<typeof findDelivery>>> & { event_id: string }

async function tryNow(desk: Desk, delivery: Found): Promise<Answer> {
  const { event_id: event, lead_id: lead, partner_id: partner, earlier_open: earlier } = delivery
  await desk.change(async ({ sql, audit }) => {
    await bringForward(sql, event)
    await audit({ action: 'delivery.resend', partnerId: partner, leadId: lead, detail: { event_id: event } })
  })
  await desk.referrals.signal(lead, 'wake')
  const paused = delivery.endpoint_state === 'paused'
  return {
    json: {
      event_id: event,
      lead_id: lead,
      partner_id: partner,
      outcome: 'due',
      earlier_open: earlier,
      endpoint_paused: paused,
    },
    text: [
      `The webhook ${event} of lead ${lead} is due now.`,
      ...(earlier > 0 ? [`${earlier} of this lead before it are open: it goes out after them.`] : []),
      ...(paused
        ? [`The endpoint of partner ${partner} is paused: it goes out with "endpoint resume".`]
        : []),
    ].join('\n'),
  }
}

const outcomes = {
  delivered: 'Sent once more, and the endpoint took it',
  unchanged: 'Sent once more, and the endpoint did not take it',
  parked: 'Not sent, because the endpoint is paused or has no URL',
  accepted: 'About to be sent once more',
}

/** A settled one: one more attempt beside the lead's own order. */
async function sendAgain(desk: Desk, delivery: Found): Promise<Answer> {
  const { event_id: event, lead_id: lead, partner_id: partner, sequence, state } = delivery
  const detail = { event_id: event, state }
  await desk.change(({ audit }) =>
    audit({ action: 'delivery.resend', partnerId: partner, leadId: lead, detail }),
  )
  const ended = await replayDelivery(desk.client, { eventId: event, leadId: lead, sequence })
  const outcome = ended !== undefined && ended in outcomes ? (ended as keyof typeof outcomes) : 'accepted'
  return {
    json: { event_id: event, lead_id: lead, partner_id: partner, outcome, state_before: state },
    text: `${outcomes[outcome]}: ${event}, ${state} before. See "lead show ${lead}".`,
    ...((outcome === 'unchanged' || outcome === 'parked') && { failed: true }),
  }
}
