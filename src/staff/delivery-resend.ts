import { wakeSignal } from '../../workflows/messages.ts'
import { bringForward, findDelivery, latestResend } from '../db/deliveries/resend.ts'
import { MOST_RESENDS, requestResends } from '../db/deliveries/resends.ts'
import { type Answer, printable } from './answer.ts'
import type { StaffContext } from './context.ts'
import { describeFailure, Refusal } from './refusal.ts'
import { soon } from './soon.ts'

/** Longer than a webhook may take. */
const ATTEMPT_LIMIT_MS = 25_000

export async function resend(context: StaffContext, event: string): Promise<Answer> {
  const delivery = await findDelivery(context.sql, event)
  if (delivery === undefined) {
    throw new Refusal(
      `There is no delivery of ${printable(event)}: see "delivery list" for the evt_… of each.`,
    )
  }
  const found = { ...delivery, event_id: event }
  return delivery.state === 'pending' ? tryNow(context, found) : sendAgain(context, found)
}

type Found = NonNullable<Awaited<ReturnType<typeof findDelivery>>> & { event_id: string }

async function tryNow(context: StaffContext, delivery: Found): Promise<Answer> {
  const { event_id: event, lead_id: lead, partner_id: partner, earlier_open: earlier } = delivery
  await context.act(actionOf(delivery), async () => {
    await bringForward(context.sql, event)
    await context.referrals.signal(lead, wakeSignal)
    return { result: undefined, detail: { outcome: 'due' } }
  })
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
  failed: 'Sent once more, and the endpoint did not take it',
  held: 'Not sent before the endpoint is resumed or has a URL',
  accepted: 'About to be sent once more',
}
type Outcome = keyof typeof outcomes

/** A settled one: one more attempt beside the lead's own order, after those that were asked for before. */
async function sendAgain(context: StaffContext, delivery: Found): Promise<Answer> {
  const { event_id: event, lead_id: lead, partner_id: partner, state } = delivery
  const { outcome, why } = await context.act(actionOf(delivery), async () => {
    const before = (await latestResend(context.sql, event))?.number ?? 0
    const { refused } = await requestResends(context.sql, partner, [event])
    if (refused.has(event)) tooMany(partner)
    const away = await context.startResends(partner).then(
      () => undefined,
      (error: unknown) =>
        `It goes out once Temporal is back. ${describeFailure(error, context.temporal.address)}`,
    )
    const result = {
      outcome: away === undefined ? await outcomeOf(context, event, before) : 'accepted',
      why: away,
    }
    return { result, detail: { outcome: result.outcome } }
  })
  return {
    json: { event_id: event, lead_id: lead, partner_id: partner, outcome, state_before: state },
    text: [
      `${outcomes[outcome]}: ${event}, ${state} before. See "lead show ${lead}".`,
      ...(why ? [why] : []),
    ].join('\n'),
    ...((outcome === 'failed' || outcome === 'held') && { failed: true }),
  }
}

/** What became of the attempt, as the record has it; `accepted` when that is not known in time. */
async function outcomeOf({ sql }: StaffContext, event: string, before: number): Promise<Outcome> {
  const found = await soon<Outcome>(async () => {
    const latest = await latestResend(sql, event)
    if (latest !== undefined && latest.number > before && latest.finished_at !== null)
      return latest.error_code === null ? 'delivered' : 'failed'
    return (await findDelivery(sql, event))?.endpoint_state === 'paused' ? 'held' : undefined
  }, ATTEMPT_LIMIT_MS)
  return found ?? 'accepted'
}

function actionOf({ event_id, state, lead_id: leadId, partner_id: partnerId }: Found) {
  return { action: 'delivery.resend', partnerId, leadId, detail: { event_id, state } }
}

function tooMany(partner: number): never {
  throw new Refusal(
    `${MOST_RESENDS} webhooks of partner ${partner} wait to be sent once more, which is the most: see the workflow resend-${partner} in the Temporal Web UI.`,
  )
}
