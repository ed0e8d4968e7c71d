import { bringForward, findDelivery } from '../db/delivery-resend.ts'
import { resendDelivery } from '../temporal/resend.ts'
import { type Answer, printable } from './answer.ts'
import type { Desk } from './desk.ts'
import { Refusal } from './refusal.ts'

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
  const ended = await resendDelivery(desk.client, { eventId: event, leadId: lead, sequence })
  const outcome = ended !== undefined && ended in outcomes ? (ended as keyof typeof outcomes) : 'accepted'
  return {
    json: { event_id: event, lead_id: lead, partner_id: partner, outcome, state_before: state },
    text: `${outcomes[outcome]}: ${event}, ${state} before. See "lead show ${lead}".`,
    ...((outcome === 'unchanged' || outcome === 'parked') && { failed: true }),
  }
}
