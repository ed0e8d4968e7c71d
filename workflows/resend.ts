import {
  condition,
  defineQuery,
  makeContinueAsNewFunc,
  setCurrentDetails,
  setDefaultSignalHandler,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow'
import { MOST_RESENDS } from '../src/deliveries/delivery-states.ts'
import { type Activities, listReplay, resendWebhook } from './activities.ts'
import { isRecord, resendUpdate, type Webhook } from './messages.ts'

type Filter = Parameters<Activities['listReplay']>[0]

/** How far resends have come: all that a run hands to the next. */
export interface Resends {
  delivered: number
  failed: number
  /** In their order. The first is being sent. */
  waiting: Webhook[]
  /** What staff asked for all at once: how many there were, and which of them was listed last. */
  replay?: { filter: Filter; total: number; at: Webhook }
}

/** A partner that asks for several one after the other needs one run. */
const LINGER = '10 seconds'

const progressQuery = defineQuery<Resends>('progress')

/**
 * Sends a partner's settled webhooks once more, one after the other: id `resend-<partner_id>` for those that are asked for
 * one by one, and `replay-<partner_id>` for what staff chose by a filter. Cancel it to stop it.
 */
export async function resend(partnerId: number, resends: Resends): Promise<Resends> {
  const { waiting, replay } = resends
  setHandler(progressQuery, () => resends, { description: 'How many were sent, and which wait' })
  setDefaultSignalHandler(() => {})
  setHandler(resendUpdate, (asked) => add(waiting, asked), {
    validator: (asked: unknown) => {
      if (!Array.isArray(asked) || !asked.every(isWebhook))
        throw new Error('The argument is [{"leadId": …, "sequence": …}, …].')
    },
    description: 'From the service itself: sends these once more, and answers which of them are too many',
  })
  for (;;) {
    const [next] = waiting
    if (next !== undefined) await send(partnerId, resends, next)
    else if (replay !== undefined) {
      const page = await listReplay(replay.filter, replay.at)
      const last = page.at(-1)
      if (last === undefined) return resends
      replay.at = last
      waiting.push(...page)
    } else if (!(await condition(() => waiting.length > 0, LINGER))) return resends
    if (workflowInfo().continueAsNewSuggested)
      await makeContinueAsNewFunc<typeof resend>()(partnerId, resends)
  }
}

/** One that waits already is not one more. */
function add(waiting: Webhook[], asked: readonly Webhook[]): Webhook[] {
  const isSame = (one: Webhook) => (other: Webhook) =>
    one.leadId === other.leadId && one.sequence === other.sequence
  const refused: Webhook[] = []
  for (const { leadId, sequence } of asked) {
    const webhook = { leadId, sequence }
    if (waiting.some(isSame(webhook))) continue
    if (waiting.length < MOST_RESENDS) waiting.push(webhook)
    else refused.push(webhook)
  }
  return refused
}

async function send(partnerId: number, resends: Resends, { leadId, sequence }: Webhook): Promise<void> {
  setCurrentDetails(detailsOf(partnerId, resends))
  const summary = `webhook ${sequence} of lead ${leadId}`
  const trigger = resends.replay === undefined ? 'resend' : 'replay'
  resends[await resendWebhook.executeWithOptions({ summary }, [leadId, sequence, trigger])] += 1
  resends.waiting.shift()
  setCurrentDetails(detailsOf(partnerId, resends))
}

const isWebhook = (asked: unknown): boolean =>
  isRecord(asked) && Number.isSafeInteger(asked.leadId) && Number.isSafeInteger(asked.sequence)

/** What an operator reads in the Temporal Web UI. */
function detailsOf(partnerId: number, { delivered, failed, waiting, replay }: Resends): string {
  const what =
    replay === undefined
      ? `Webhooks that **partner ${partnerId}** or staff asked to be sent once more: **${waiting.length}** wait.`
      : `Replay of **partner ${partnerId}**: **${delivered + failed} of ${replay.total}** sent.`
  const [next] = waiting
  const at = next === undefined ? '' : `; at lead ${next.leadId}, webhook ${next.sequence}`
  const advice = 'Request its cancellation to stop it; pause the endpoint to hold it.'
  return [what, `Delivered: ${delivered}; failed: ${failed}${at}`, advice].join('\n\n')
}
