import {
  condition,
  makeContinueAsNewFunc,
  setCurrentDetails,
  setDefaultSignalHandler,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow'
import { describeReason } from '../src/domain/endpoint.ts'
import {
  type EndpointReview,
  finishDraining,
  notify,
  probeEndpoint,
  reviewEndpoint,
  wakeLeads,
} from './endpoint-activities.ts'
import { lookSignal, probeSignal } from './endpoint-messages.ts'

const HOUR_MS = 60 * 60 * 1000

/** The waits before the probes of a paused endpoint: the first, doubled each time up to the longest. */
export interface ProbePace {
  firstMs: number
  longestMs: number
}

/** What a run hands to the next. */
interface Carried {
  /** The pause that is being probed, and how often that was done. */
  since: string
  probes: number
  /** When the next probe is due. */
  nextProbeAt: number
}

/** An endpoint's care, as its workflow holds it in memory. */
interface Care extends Carried {
  endpointId: number
  pace: ProbePace
  looks: number
  probeNow: boolean
  mailing: boolean
}

/**
 * Brings a partner's endpoint back to work and tells who has to know: id `endpoint-<id>`, while it is not
 * active or has mails to be sent. What is to be done stands in PostgreSQL and is read anew in each round.
 */
export async function endpoint(
  endpointId: number,
  pace: ProbePace = { firstMs: HOUR_MS, longestMs: 24 * HOUR_MS },
  carried: Carried = { since: '', probes: 0, nextProbeAt: 0 },
): Promise<void> {
  const care = setup({ ...carried, endpointId, pace, looks: 0, probeNow: false, mailing: false })
  for (;;) {
    const { looks } = care
    const review = await reviewEndpoint(endpointId)
    if (review === null) return
    if (review.unsent > 0) void mail(care)
    show(care, review)
    if (review.state === 'draining') await drain(care)
    else if (review.state === 'paused') await rest(care, review, looks)
    else if (care.mailing) await condition(() => !care.mailing || care.looks !== looks)
    else if (review.owed !== null) await condition(() => care.looks !== looks, HOUR_MS)
    else return
    if (workflowInfo().continueAsNewSuggested) {
      const { since, probes, nextProbeAt } = care
      await makeContinueAsNewFunc<typeof endpoint>()(endpointId, pace, { since, probes, nextProbeAt })
    }
  }
}

function setup(care: Care): Care {
  setHandler(lookSignal, () => void (care.looks += 1), { description: 'The record has changed: look at it' })
  setHandler(probeSignal, () => void (care.probeNow = true), {
    description: 'Try a paused endpoint now, with the oldest webhook that waits',
  })
  setDefaultSignalHandler(() => {})
  return care
}

/** Paused: probes with the oldest webhook that waits. What somebody paused, somebody has to resume. */
async function rest(care: Care, review: EndpointReview, looks: number): Promise<void> {
  const looked = () => care.looks !== looks
  if (review.pausedBy !== 'service') {
    await condition(looked)
    return
  }
  const waitMs = Math.max(1, care.nextProbeAt - Date.now())
  const summary = `probe ${care.probes + 1}`
  const news = await condition(() => looked() || care.probeNow, waitMs, { summary })
  if (news && !care.probeNow) return
  care.probeNow = false
  if ((await probe(care)) !== 'nothing') care.probes += 1
  care.nextProbeAt = nextProbe(care)
}

function nextProbe({ pace, probes }: Care): number {
  return Date.now() + Math.min(pace.firstMs * 2 ** probes, pace.longestMs)
}

async function probe({ endpointId }: Care): Promise<string> {
  try {
    return await probeEndpoint(endpointId)
  } catch {
    // whatever kept it from being sent, the next one comes
    return 'failed'
  }
}

/** Draining: wakes the leads, which send their own in order, and waits until nothing from before is due. */
async function drain({ endpointId }: Care): Promise<void> {
  const since = await wakeLeads(endpointId)
  if (since === null) return
  const tooLong = condition(() => workflowInfo().continueAsNewSuggested)
  await Promise.race([finishDraining(endpointId, since), tooLong])
}

/** Mails beside everything else: a mail server that is away delays no webhook. */
async function mail(care: Care): Promise<void> {
  if (care.mailing) return
  care.mailing = true
  try {
    await notify(care.endpointId)
  } catch {
    // stale by now; the record keeps that it was not sent
  } finally {
    care.mailing = false
  }
}

/** What an operator reads in the Temporal Web UI; begins the count of probes of a new pause. */
function show(care: Care, review: EndpointReview): void {
  const { partnerId, state, reason, pausedBy, since, waiting } = review
  if (state === 'paused' && since !== care.since) {
    Object.assign(care, { since, probes: 0 })
    care.nextProbeAt = nextProbe(care)
  }
  const probing = pausedBy === 'service'
  const lines = [
    `The endpoint of **partner ${partnerId}** is **${state}** since ${since}: ${describeReason(reason)}.`,
    '',
    `- Webhooks that wait: ${waiting}`,
    ...(probing
      ? [`- Probes so far: ${care.probes}; next at ${new Date(care.nextProbeAt).toISOString()}`]
      : []),
  ]
  setCurrentDetails(lines.join('\n'))
}
