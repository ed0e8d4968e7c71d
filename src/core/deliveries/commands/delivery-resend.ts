import { sendNowSignal } from '../../../../workflows/messages.ts'
import { MOST_RESENDS } from '../decisions/delivery.ts'
import { findDelivery, latestResend } from '../statements/resend.ts'
import { resendId } from '../../temporal/names.ts'
import { printable } from '../../../staff/answer.ts'
import type { StaffContext } from '../../../staff/context.ts'
import { Refusal } from '../../../staff/refusal.ts'
import { soon } from '../../../staff/soon.ts'

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
  return { action: 'delivery.resend', partnerId, leadId, detail: { event_id, state } }
}
